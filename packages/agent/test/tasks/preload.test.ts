// A library of the node is loaded into ranks of a container only where the container's own C library can take it.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { directFiles } from "../../src/files/direct-files.ts";
import { fittingPreload, isAtLeast } from "../../src/tasks/preload.ts";

const root = mkdtempSync(join(tmpdir(), "lattice-preload-"));
afterAll(() => rmSync(root, { recursive: true, maxRetries: 9 }));

const fits = (preload: string) => fittingPreload(preload, { files: directFiles, owner: null, root });

test("the library is preloaded only into images with the same or a newer C library", async () => {
  expect(await fits("")).toBe("");
  expect(await fits("/opt/x.so")).toBe("");
  mkdirSync(join(root, "opt"));
  writeFileSync(join(root, "opt", "x.so"), "");
  expect(await fits("/opt/x.so")).toBe("");
  mkdirSync(join(root, "lib64"));
  for (const [version, fitting] of [
    ["2.17", ""],
    ["9.1", "/opt/x.so"],
  ] as const) {
    writeFileSync(join(root, "lib64", "libc.so.6"), `\0GNU C Library (Some) stable release version ${version}.\n\0`);
    expect(await fits("/opt/x.so")).toBe(fitting);
  }
  writeFileSync(join(root, "lib64", "libc.so.6"), "musl");
  expect(await fits("/opt/x.so")).toBe("");
});

test.each([
  ["2.36", "2.36", true],
  ["2.4", "2.36", false],
  ["2.40", "2.36", true],
  ["3.0", "2.36", true],
])("%s is at least %s: %s", (version, least, is) => expect(isAtLeast(version, least)).toBe(is));
