// The lock of the token file: one command at a time; stale locks are removed.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { withLock } from "../src/login/token-lock.ts";

const home = mkdtempSync(join(tmpdir(), "lattice-test-lock-"));
afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 9 }));
const path = (name: string) => join(home, name, "tokens.json");

test("commands run one after the other, also after a failure", async () => {
  const file = path("many");
  let inside = 0;
  const work = (fails: boolean) =>
    withLock(file, async () => {
      inside += 1;
      const alone = inside === 1;
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside -= 1;
      if (fails) throw new Error("no");
      return alone;
    }).catch(() => true);
  expect(await Promise.all([work(false), work(true), work(false), work(false)])).toEqual([true, true, true, true]);
  expect(existsSync(`${file}.lock`)).toBe(false);
});

test("locks of dead processes and old locks are removed", async () => {
  const file = path("left");
  await withLock(file, () => undefined);
  const { pid } = spawnSync("true");
  writeFileSync(`${file}.lock`, `${hostname()} ${pid} x`);
  expect(await withLock(file, () => "mine")).toBe("mine");
  writeFileSync(`${file}.lock`, "another-machine 1 x");
  utimesSync(`${file}.lock`, 0, 0);
  expect(await withLock(file, () => "mine again")).toBe("mine again");
  expect(existsSync(`${file}.lock`)).toBe(false);
});

test("without HOME the lock fails", async () => {
  await expect(withLock(null, () => undefined)).rejects.toMatchObject({ problem: { detail: "HOME is not set" } });
});
