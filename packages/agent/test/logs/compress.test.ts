// A part of a file is compressed unchanged by either method; an unreadable file is an error, never stored as empty.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGzip, gunzipSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { byNode, byProgram, findCompressor } from "../../src/logs/ship/compress.ts";

const folder = mkdtempSync(join(tmpdir(), "lattice-compress-"));
/** A name that a shell would take apart. */
const path = join(folder, "a log's $(name).txt");
/** Large enough for several blocks, and it does not become smaller. */
const bytes = Buffer.concat(Array.from({ length: 40_000 }, (_, n) => createHash("sha256").update(String(n)).digest()));
writeFileSync(path, bytes);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));

const unpacked = (data: Buffer): Buffer =>
  spawnSync("zstd", ["-d", "-q", "-c"], { input: data, maxBuffer: 2 * bytes.length }).stdout;

test.each([
  [0, bytes.length],
  [0, 1],
  [4_097, 1_000_003],
  [bytes.length - 5, bytes.length],
])("the zstd program compresses %i to %i", async (start, end) => {
  expect(findCompressor()).toEqual({ ok: true, value: byProgram });
  expect(unpacked(await byProgram({ path, start, end })).equals(bytes.subarray(start, end))).toBe(true);
});

test("Node compresses the same part", async () => {
  const packed = await byNode(createGzip)({ path, start: 4_097, end: 1_000_003 });
  expect(gunzipSync(packed).equals(bytes.subarray(4_097, 1_000_003))).toBe(true);
});

test("a missing file is reported as an error", async () => {
  const gone = join(folder, "gone");
  await expect(byProgram({ path: gone, start: 0, end: 10 })).rejects.toThrow(
    /could not be compressed: dd.*No such file/,
  );
});
