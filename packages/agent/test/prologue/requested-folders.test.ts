// Folders that an order requests: enough scratch, a place for output that its user may write to, and the defaults.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { directFiles } from "../../src/files/direct-files.ts";
import { openUserFiles } from "../../src/files/open-user-files.ts";
import { Trash } from "../../src/files/trash.ts";
import type { RunAs } from "../../src/host/user/user.ts";
import type { PrologueTarget } from "../../src/runtime/base/engine.ts";
import { ScratchFolders } from "../../src/runtime/base/scratch.ts";
import { checkDefaults, checkScratch, homeMount, ownOutput } from "../../src/runtime/prologue/requested-folders.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "lattice-folders-"));
  chmodSync(dir, 0o755);
});
afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));

const ADA: RunAs = { name: "ada", uid: 54321, gid: 54321, groups: [54321], home: "/nowhere/ada", shell: "/bin/sh" };
const orderOf = (data: MessageInitShape<typeof pb.RunDataSchema>, more: Partial<pb.RunOrder> = {}): pb.RunOrder => ({
  ...create(pb.RunOrderSchema, { allocationId: "7", user: "ada", tenant: "t", data }),
  ...more,
});

const targetOf = (key: string, scratchBytes: number): PrologueTarget => {
  const order = orderOf({ scratchBytes });
  const folder = join(dir, "attempts", key);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "order.json"),
    JSON.stringify({ bootId: "b", arrivedAtMs: 1, order: toJson(pb.RunOrderSchema, order) }),
  );
  return { key, group: key, dir: folder, order, environment: {} };
};

test("scratch: what is free is enough, more is not, and what others were promised is not free", async () => {
  const trash = new Trash({
    folder: join(dir, "scratch", ".trash"),
    files: directFiles,
    log: pino({ level: "silent" }),
  });
  const scratch = new ScratchFolders(join(dir, "scratch"), trash);
  await scratch.open();
  await checkScratch({ scratch }, targetOf("1.1", 1e6));
  await checkScratch({ scratch }, targetOf("2.1", 0));
  await expect(checkScratch({ scratch }, targetOf("3.1", 9e14))).rejects.toMatchObject({
    stage: "scratch",
    message: expect.stringMatching(/^900000\.0 GB of scratch requested, and [0-9.]+ GB are free on this node$/),
  });
  // Its own folder may be there already, from before a restart.
  scratch.make("3.1", null);
  scratch.make("4.1", null);
  const large = targetOf("4.1", 8e14);
  await expect(checkScratch({ scratch }, targetOf("5.1", 1e6))).rejects.toThrow("and 0.0 GB are free");
  await expect(checkScratch({ scratch }, large)).rejects.toMatchObject({ stage: "scratch" });
});

test("output: a folder by whom it is for, a bucket as it is, and no way out", async () => {
  const files = await openUserFiles({ isRoot: process.getuid?.() === 0, jobsAreRoot: false });
  const made = join(dir, "own");
  mkdirSync(made);
  chmodSync(made, 0o777);
  const path = join(made, "ada", "7");
  const said = await ownOutput(orderOf({ output: `file://${made}/{user}/{allocation_id}` }), ADA, files);
  expect(said).toEqual({ LATTICE_OUTPUT: path, LATTICE_OUTPUT_DIR: path });
  expect(statSync(path).uid).toBe(54321);
  const place = { output: "s3://{tenant}/{allocation_id}/" };
  expect(await ownOutput(orderOf(place), ADA, files)).toEqual({ LATTICE_OUTPUT: "s3://t/7/" });
  expect(await ownOutput(orderOf({}), ADA, files)).toEqual({});
  chmodSync(made, 0o755);
  await expect(ownOutput(orderOf({ output: `${made}/other` }), ADA, files)).rejects.toMatchObject({
    stage: "output",
    message: expect.stringContaining("Permission denied"),
  });
  await expect(ownOutput(orderOf({ output: "/x/{user}" }, { user: ".." }), ADA, files)).rejects.toThrow(
    "would contain ..",
  );
  files.close();
});

test("defaults: a node without them says which one it lacks", async () => {
  const check = (parts: object, more: Partial<pb.RunOrder> = {}, user: RunAs | null = ADA) =>
    checkDefaults(
      { outputRoot: "/out", homeSource: "", files: directFiles, ...parts },
      orderOf({ defaults: true }, more),
      user,
    );
  await expect(check({ outputRoot: "" })).rejects.toThrow("no place for output");
  await expect(check({})).rejects.toMatchObject({ stage: "mounts", message: expect.stringContaining("/nowhere/ada") });
  await check({ homeSource: "/shared/home/{user}" });
  await check({}, {}, { ...ADA, home: dir });
  await check({}, {}, null);
  const saves = {
    ...orderOf({ defaults: true, output: "s3://b/" }),
    checkpoint: create(pb.CheckpointPlanSchema, { mode: "signal" }),
  };
  await expect(checkDefaults({ outputRoot: "", homeSource: "", files: directFiles }, saves, null)).rejects.toThrow(
    "no place for checkpoints",
  );
  expect(homeMount("/h/{user}", orderOf({ defaults: true }), ADA)).toMatchObject([
    { source: "/h/{user}", target: ADA.home, access: "read-write" },
  ]);
  expect(homeMount("/h/{user}", orderOf({}), ADA)).toEqual([]);
});
