// The program that serves PMIx is built where it can be, once, and what is missing is named elsewhere.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findPmix } from "../../src/tasks/pmix-program.ts";

const folder = mkdtempSync(join(tmpdir(), "lattice-pmix-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("without a compiler there is no PMIx, and it says so", async () => {
  const means = findPmix(folder, "/nowhere");
  expect(means.missing).toBe("there is no C compiler");
  await expect(means.build()).rejects.toThrow("there is no C compiler");
});

test("it is built once, and kept", async () => {
  const means = findPmix(folder);
  expect(means.missing).toBeNull();
  const program = await means.build();
  const made = statSync(program);
  expect(made.mode & 0o111).not.toBe(0);
  expect(await findPmix(folder).build()).toBe(program);
  expect(statSync(program).mtimeMs).toBe(made.mtimeMs);
});
