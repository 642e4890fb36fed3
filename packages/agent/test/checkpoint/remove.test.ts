// Removal of outdated checkpoints: all but the kept ones while newer ones are taken, and all of them long after the end.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import pino from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createClearings } from "../../src/checkpoint/clearings.ts";
import { removeAll, removeOlder } from "../../src/checkpoint/remove.ts";
import { directFiles } from "../../src/files/direct-files.ts";
import { openUserFiles } from "../../src/files/open-user-files.ts";

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

test("older checkpoints are removed except the kept ones; other files stay", async () => {
  fill(dir, ["1", "2", "3", "4", "notes", "07"]);
  expect(await removeOlder(dir, { below: 4, kept: [2], owner: null, files: directFiles })).toBeNull();
  expect(readdirSync(dir).sort()).toEqual(["07", "2", "4", "notes"]);
  expect(await removeOlder(join(dir, "nowhere"), { below: 4, kept: [], owner: null, files: directFiles })).toBeNull();
});

test("all checkpoints are removed, and their directory when it is empty", async () => {
  const [own, shared] = [join(dir, "own"), join(dir, "shared")];
  fill(own, ["1", "2"]);
  fill(shared, ["1", "notes"]);
  expect(await removeAll(own, null, directFiles)).toBeNull();
  expect(await removeAll(shared, null, directFiles)).toBeNull();
  expect(readdirSync(dir)).toEqual(["shared"]);
  expect(readdirSync(shared)).toEqual(["notes"]);
});

test("a symbolic link does not cause the removal of other users' files", async () => {
  const precious = join(dir, "precious");
  fill(precious, ["1"]);
  const folder = join(dir, "checkpoints");
  symlinkSync(precious, folder);
  const unprivileged = { uid: 65_534, gid: 65_534, groups: [65_534] };
  const files = openUserFiles(process.getuid?.() === 0);
  if (process.getuid?.() === 0) expect(await removeAll(folder, unprivileged, files)).toMatch(/denied|not permitted/i);
  expect(existsSync(join(precious, "1", "state"))).toBe(true);
  files.close();
});

const nothing = { tenant: "physics", project: "", user: "ada" };

function clearings(now: () => number, timers: (() => void)[]) {
  return createClearings({
    dataDir: join(dir, "agent"),
    outputRoot: join(dir, "output"),
    files: directFiles,
    ownerOf: async (user) => {
      if (user === "gone") throw new Error("there is no user gone");
      return null;
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
