// Removals in the background: the place of a tree is free at once, and a removal that never ends delays its user only.

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, expect, test } from "vitest";
import { directFiles } from "../../src/files/direct-files.ts";
import { openUserFiles } from "../../src/files/open-user-files.ts";
import { Trash } from "../../src/files/trash.ts";
import type { UserFiles } from "../../src/files/user-files.ts";

const dir = mkdtempSync(join(tmpdir(), "lattice-trash-"));
afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));

/** As a tree on storage that hangs. */
const endless: Pick<UserFiles, "clear"> = { clear: () => new Promise(() => undefined) };
/** The wait for a removal, with room for a busy machine. */
const SOON_MS = 10_000;

async function open(files: Pick<UserFiles, "clear">, folder = mkdtempSync(join(dir, "t-"))): Promise<Trash> {
  const trash = new Trash({ folder, files, log: pino({ level: "silent" }) });
  await trash.open();
  return trash;
}

/** A folder of the agent's with one tree in it. */
function base(...names: string[]): string {
  const folder = mkdtempSync(join(dir, "base-"));
  for (const name of names) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "file"), "left");
  }
  return folder;
}

test("a tree is removed with everything below it, and an absent one is no failure", async () => {
  const [trash, from] = [await open(directFiles), base("1.1")];
  await trash.take(from, "1.1", "ada");
  await trash.take(from, "2.1", "ada");
  expect(readdirSync(from)).toEqual([]);
  expect(readdirSync(trash.folder)).toEqual([]);
});

test("a removal that never ends leaves the place of its tree free, and its caller soon continues", async () => {
  const [trash, from] = [await open(endless), base("1.1")];
  const since = performance.now();
  const taken = trash.take(from, "1.1", "ada");
  expect(existsSync(join(from, "1.1"))).toBe(false);
  await taken;
  expect(performance.now() - since).toBeLessThan(SOON_MS);
});

test("a user whose removals never end waits, and other users do not", async () => {
  const [trash, from] = [await open(endless), base("last", "other")];
  for (let n = 0; n < 80; n += 1) {
    mkdirSync(join(from, `${n}`));
    void trash.take(from, `${n}`, "mallory");
  }
  let isOver = false;
  void trash.take(from, "last", "mallory").then(() => {
    isOver = true;
  });
  await trash.take(from, "other", "bob");
  expect(isOver).toBe(false);
  expect(readdirSync(from)).toEqual([]);
});

test("the next agent removes what is left, and does not wait for it", async () => {
  const [before, from] = [await open(endless), base("1.1", "2.1")];
  for (const name of ["1.1", "2.1"]) await before.take(from, name, "ada");
  const hanging = await open(endless, before.folder);
  const since = performance.now();
  await hanging.sweep();
  expect(performance.now() - since).toBeLessThan(SOON_MS);
  const next = await open(directFiles, before.folder);
  await next.sweep();
  await next.emptied(SOON_MS);
  expect(readdirSync(next.folder)).toEqual([]);
});

test.runIf(process.getuid?.() === 0)("a tree that its user has mounted something on is removed too", async () => {
  const files = await openUserFiles({ isRoot: true, jobsAreRoot: false });
  const [trash, from] = [await open(files), base("1.1")];
  chmodSync(from, 0o711);
  execFileSync("mount", ["-t", "tmpfs", "none", join(from, "1.1")]);
  await trash.take(from, "1.1", "ada");
  await trash.emptied(SOON_MS);
  expect(readdirSync(from)).toEqual([]);
  files.close();
});
