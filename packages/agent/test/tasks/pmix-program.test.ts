// The program that serves PMIx is built where it can be, once, and what is missing is named elsewhere.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { finalizeShim } from "../../src/tasks/finalize-shim.ts";
import { findPmix } from "../../src/tasks/pmix-program.ts";

const folder = mkdtempSync(join(tmpdir(), "lattice-pmix-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));

test("without a compiler PMIx is unavailable, with that reason", async () => {
  const means = findPmix(folder, "/nowhere", null);
  expect(means.missing).toBe("there is no C compiler");
  await expect(means.build()).rejects.toThrow("there is no C compiler");
});

test("the program is built once and kept", async () => {
  const means = findPmix(folder, process.env.PATH, null);
  expect(means.missing).toBeNull();
  const program = await means.build();
  const made = statSync(program);
  expect(made.mode & 0o111).not.toBe(0);
  expect(await findPmix(folder, process.env.PATH, null).build()).toBe(program);
  expect(statSync(program).mtimeMs).toBe(made.mtimeMs);
});

test("a bundled program is used without a compiler, unless it does not run here", async () => {
  const built = join(folder, "lattice-pmix");
  writeFileSync(built, "#!/bin/sh\nexit 2\n", { mode: 0o700 });
  const means = findPmix(folder, "/nowhere", built);
  expect(means.missing).toBeNull();
  const kept = await means.build();
  expect(kept).toMatch(/libraries\/lattice-pmix-[0-9a-f]{8}$/);
  expect(await means.build()).toBe(kept);
  expect(statSync(kept).mode & 0o777, "the users of jobs run it").toBe(0o755);
  writeFileSync(built, "#!/bin/sh\nexit 127\n", { mode: 0o755 });
  expect(findPmix(folder, "/nowhere", built).missing).not.toBeNull();
});

test("the MPI_Finalize library is bundled or compiled, and missing without either", async () => {
  const built = join(folder, "lattice-mpi-finalize.so");
  writeFileSync(built, "a library");
  expect(await finalizeShim(folder, built)).toMatch(/lattice-mpi-finalize-[0-9a-f]{8}\.so$/);
  const compiled = await finalizeShim(folder, null);
  expect(compiled).not.toBeNull();
  expect(execFileSync("nm", ["-D", compiled ?? ""], { encoding: "utf8" })).toContain("ucp_worker_create");
  expect(await finalizeShim(join(folder, "other"), join(folder, "gone.so"))).toBeNull();
});
