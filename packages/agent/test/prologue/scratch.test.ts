// Scratch folders: always empty at the beginning, kept for the same user only.

import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { directFiles } from "../../src/files/direct-files.ts";
import { scratchFolders } from "../../src/runtime/base/scratch.ts";

const base = mkdtempSync(join(tmpdir(), "lattice-scratch-"));
afterAll(() => rmSync(base, { recursive: true, force: true, maxRetries: 9 }));

const freshRoot = () => mkdtempSync(join(base, "root-"));

test("an empty directory is reused with a new name and its original mode", async () => {
  const root = freshRoot();
  const folders = scratchFolders(root, directFiles);
  const first = folders.make("1.0", null);
  const { ino } = statSync(first);
  chmodSync(first, 0o777);
  await folders.clear("1.0");
  expect(existsSync(first)).toBe(false);
  expect(readdirSync(root).map((name) => folders.keeps(name))).toEqual([true]);
  expect(statSync(folders.make("2.0", null))).toMatchObject({ ino, mode: 0o040700 });
  expect(readdirSync(root)).toEqual(["2.0"]);
});

test("a directory with content is removed", async () => {
  const root = freshRoot();
  const folders = scratchFolders(root, directFiles);
  writeFileSync(join(folders.make("3.0", null), "left"), "behind");
  await folders.clear("3.0");
  expect(readdirSync(root)).toEqual([]);
  expect(readdirSync(folders.make("4.0", null))).toEqual([]);
});

test("removals of one user wait for each other, and not those of other users", async () => {
  const asked: (string | undefined)[] = [];
  const clear = async (_base: string, _name: string, whose?: string) => void asked.push(whose);
  const folders = scratchFolders(freshRoot(), { clear });
  for (const [key, whose] of [["1.1", "ada"], ["2.1", "ada"], ["3.1"]] as const) {
    writeFileSync(join(folders.make(key, null), "left"), "behind");
    await folders.clear(key, whose === undefined ? undefined : () => whose);
  }
  expect(asked).toEqual(["ada", "ada", "3.1"]);
});

test.runIf(process.getuid?.() === 0)("a directory is never reused for another user", async () => {
  const folders = scratchFolders(freshRoot(), directFiles);
  const mine = { name: "a", uid: 1234, gid: 1234, home: "/", groups: [1234], shell: "/bin/sh" };
  const { ino } = statSync(folders.make("5.0", mine));
  await folders.clear("5.0");
  expect(statSync(folders.make("6.0", { ...mine, uid: 1235 })).ino).not.toBe(ino);
  expect(statSync(folders.make("7.0", mine))).toMatchObject({ ino, uid: 1234, gid: 1234 });
});

test("the number of spare folders is limited, and a removed spare is replaced", async () => {
  const root = freshRoot();
  const folders = scratchFolders(root, directFiles);
  for (let n = 0; n < 9; n += 1) folders.make(`${n}.0`, null);
  for (let n = 0; n < 9; n += 1) await folders.clear(`${n}.0`);
  expect(readdirSync(root)).toHaveLength(4);
  for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true, maxRetries: 9 });
  expect(existsSync(folders.make("9.0", null))).toBe(true);
});
