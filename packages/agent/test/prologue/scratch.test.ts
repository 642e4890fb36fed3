// Scratch folders: always empty at the beginning, kept for the same user only.

import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, expect, test } from "vitest";
import { directFiles } from "../../src/files/direct-files.ts";
import { Trash } from "../../src/files/trash.ts";
import type { UserFiles } from "../../src/files/user-files.ts";
import { SCRATCH_TRASH, ScratchFolders } from "../../src/runtime/base/scratch.ts";

const base = mkdtempSync(join(tmpdir(), "lattice-scratch-"));
afterAll(() => rmSync(base, { recursive: true, force: true, maxRetries: 9 }));

const freshRoot = () => mkdtempSync(join(base, "root-"));
const trashOf = (root: string): string => join(root, SCRATCH_TRASH);

async function open(root: string, files: Pick<UserFiles, "clear"> = directFiles): Promise<ScratchFolders> {
  const trash = new Trash({ folder: trashOf(root), files, log: pino({ level: "silent" }) });
  const folders = new ScratchFolders(root, trash);
  await folders.open();
  return folders;
}

test("an empty directory is reused with a new name and its original mode", async () => {
  const root = freshRoot();
  const folders = await open(root);
  const first = folders.make("1.0", null);
  const { ino } = statSync(first);
  chmodSync(first, 0o777);
  await folders.clear("1.0");
  expect(existsSync(first)).toBe(false);
  expect(readdirSync(trashOf(root))).toHaveLength(1);
  expect(statSync(folders.make("2.0", null))).toMatchObject({ ino, mode: 0o040700 });
  expect(readdirSync(root)).toEqual([SCRATCH_TRASH, "2.0"]);
});

test("a directory with content is removed", async () => {
  const root = freshRoot();
  const folders = await open(root);
  writeFileSync(join(folders.make("3.0", null), "left"), "behind");
  await folders.clear("3.0");
  expect(readdirSync(root)).toEqual([SCRATCH_TRASH]);
  expect(readdirSync(trashOf(root))).toEqual([]);
  expect(readdirSync(folders.make("4.0", null))).toEqual([]);
});

test("a directory that an interrupted start left is replaced by an empty one", async () => {
  const root = freshRoot();
  writeFileSync(join((await open(root)).make("3.1", null), "left"), "behind");
  const next = await open(root);
  const path = next.make("3.1", null);
  expect(readdirSync(path)).toEqual([]);
  writeFileSync(join(path, "own"), "kept");
  expect(readdirSync(next.make("3.1", null))).toEqual(["own"]);
});

test("what earlier agents left is removed in the background, and a removal that never ends delays no start", async () => {
  const root = freshRoot();
  for (const key of ["8.1", "9.1"]) mkdirSync(join(root, key));
  const folders = await open(root, { clear: () => new Promise(() => undefined) });
  const left: string[] = [];
  await folders.sweep(new Set(["9.1"]), (key) => left.push(key));
  expect(left).toEqual(["8.1"]);
  expect(readdirSync(root)).toEqual([SCRATCH_TRASH, "9.1"]);
  expect(readdirSync(folders.make("10.1", null))).toEqual([]);
});

test("removals of one user wait for each other, and not those of other users", async () => {
  const asked: (string | undefined)[] = [];
  const clear = async (_base: string, _name: string, whose?: string) => void asked.push(whose);
  const folders = await open(freshRoot(), { clear });
  for (const [key, whose] of [["1.1", "ada"], ["2.1", "ada"], ["3.1"]] as const) {
    writeFileSync(join(folders.make(key, null), "left"), "behind");
    await folders.clear(key, whose === undefined ? undefined : () => whose);
  }
  expect(asked).toEqual(["ada", "ada", "3.1"]);
});

test.runIf(process.getuid?.() === 0)("a directory is never reused for another user", async () => {
  const folders = await open(freshRoot());
  const mine = { name: "a", uid: 1234, gid: 1234, home: "/", groups: [1234], shell: "/bin/sh" };
  const { ino } = statSync(folders.make("5.0", mine));
  await folders.clear("5.0");
  expect(statSync(folders.make("6.0", { ...mine, uid: 1235 })).ino).not.toBe(ino);
  expect(statSync(folders.make("7.0", mine))).toMatchObject({ ino, uid: 1234, gid: 1234 });
});

test("the number of spare folders is limited, and a removed spare is replaced", async () => {
  const root = freshRoot();
  const folders = await open(root);
  for (let n = 0; n < 9; n += 1) folders.make(`${n}.0`, null);
  for (let n = 0; n < 9; n += 1) await folders.clear(`${n}.0`);
  const spares = readdirSync(trashOf(root));
  expect(spares).toHaveLength(4);
  for (const name of spares) rmSync(join(trashOf(root), name), { recursive: true, maxRetries: 9 });
  expect(existsSync(folders.make("9.0", null))).toBe(true);
});
