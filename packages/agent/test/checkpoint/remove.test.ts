// Removal of outdated checkpoints: all but the kept ones while newer ones are taken, and all of them long after the end.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import pino from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createClearings } from "../../src/checkpoint/clearings.ts";
import { removeAll, removeOlder } from "../../src/checkpoint/remove.ts";
import { directFiles } from "../../src/files/direct-files.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "lattice-remove-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));

function fill(folder: string, names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, "state"), "much");
  }
}

const owned = (base: string, ...parts: string[]) => ({ base, parts, ownedFrom: 0, mode: 0o755 });
const whose = { whose: "ada", files: directFiles };

test("older checkpoints are removed except the kept ones; other files stay", async () => {
  fill(join(dir, "c"), ["1", "2", "3", "4", "notes", "07"]);
  expect(await removeOlder(owned(dir, "c"), { ...whose, below: 4, kept: [2] })).toBeNull();
  expect(readdirSync(join(dir, "c")).sort()).toEqual(["07", "2", "4", "notes"]);
  expect(await removeOlder(owned(dir, "nowhere"), { ...whose, below: 4, kept: [] })).toBeNull();
});

test("all checkpoints are removed, and their directory when it is empty", async () => {
  const [own, shared] = [join(dir, "own"), join(dir, "shared")];
  fill(own, ["1", "2"]);
  fill(shared, ["1", "notes"]);
  expect(await removeAll(owned(dir, "own"), whose)).toBeNull();
  expect(await removeAll(owned(dir, "shared"), whose)).toBeNull();
  expect(readdirSync(dir)).toEqual(["shared"]);
  expect(readdirSync(shared)).toEqual(["notes"]);
});

const nothing = { tenant: "physics", project: "", user: "ada" };

const unable = () => Promise.reject(new Error("the storage is away"));

function clearings(now: () => number, timers: (() => void)[]) {
  return createClearings({
    dataDir: join(dir, "agent"),
    outputRoot: join(dir, "output"),
    files: {
      prune: (folder, outdated) => (outdated.whose === "gone" ? unable() : directFiles.prune(folder, outdated)),
    },
    now,
    after: (_, callback) => {
      timers.push(callback);
      return () => undefined;
    },
    log: pino({ level: "silent" }),
  });
}

test("checkpoints of ended allocations are removed when due, also by a restarted agent", async () => {
  let now = 1_000;
  const timers: (() => void)[] = [];
  const folder = join(dir, "output", "physics", "default", "7", "checkpoints");
  fill(folder, ["1", "2"]);
  const first = clearings(() => now, timers);
  expect(await first.add("7", create(pb.CheckpointsToClearSchema, { ...nothing, afterSeconds: 100 }))).toBe(true);
  expect(await first.add("../8", create(pb.CheckpointsToClearSchema, { ...nothing, afterSeconds: 100 }))).toBe(false);
  await first.add("9", create(pb.CheckpointsToClearSchema, { ...nothing, user: "gone", afterSeconds: 100 }));
  expect(readdirSync(join(dir, "agent", "clearing")).sort()).toEqual(["7", "9"]);
  first.close();

  const later: (() => void)[] = [];
  const second = clearings(() => now, later);
  later.shift()?.();
  await expect.poll(() => later.length).toBe(1);
  expect(existsSync(folder)).toBe(true);
  now = 101_000;
  later.shift()?.();
  await expect.poll(() => existsSync(folder)).toBe(false);
  await expect.poll(() => readdirSync(join(dir, "agent", "clearing"))).toEqual(["9"]);
  now += 31 * 86_400_000;
  await expect.poll(() => later.length).toBe(1);
  later.shift()?.();
  await expect.poll(() => readdirSync(join(dir, "agent", "clearing"))).toEqual([]);
  second.close();
});
