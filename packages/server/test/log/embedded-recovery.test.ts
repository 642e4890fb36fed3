// Recovery from the remains of a crash, and from damage.

import { copyFile, mkdir, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { logIndex } from "@lattice/core";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { diskFiles } from "../../src/log/embedded/files.ts";
import { recoverSegments } from "../../src/log/embedded/recover.ts";
import { openEmbeddedLog } from "../../src/log/index.ts";
import { entries, fill, lead, readThrough, textOf } from "./entries.ts";
import { temporaryDir } from "./temporary-dir.ts";

let dir: string;
beforeEach(async () => {
  dir = await temporaryDir();
});
afterEach(() => rm(dir, { recursive: true, force: true, maxRetries: 9 }));

const segments = async (): Promise<readonly string[]> =>
  (await readdir(dir))
    .filter((name) => name.endsWith(".seg"))
    .sort()
    .map((name) => join(dir, name));

/** Recovery alone, without lock and snapshots: fast enough for thousands of cases. */
async function recovered(): Promise<{ lastIndex: number; warnings: readonly string[] }> {
  const warnings: string[] = [];
  const { segments: found } = await recoverSegments(diskFiles, dir, (text) => warnings.push(text));
  return { lastIndex: found.at(-1)?.lastIndex ?? 0, warnings };
}

/** One segment with entries 1 to 3, then a batch of 4 and 5. Returns where the batch begins. */
async function written(): Promise<{ path: string; content: Buffer; start: number }> {
  const log = await openEmbeddedLog({ dir });
  const leader = await lead(log);
  await fill(log, leader, 1, 3);
  const start = log.status().bytes;
  await log.append(leader, entries(leader.term, 4, "four", "five"));
  await log.close();
  const path = (await segments())[0] ?? "";
  return { path, content: await readFile(path), start };
}

describe("a torn last write", () => {
  test("cut at every byte: the batch is complete or absent", async () => {
    const { path, content, start } = await written();
    for (let length = start; length <= content.length; length += 1) {
      await writeFile(path, content.subarray(0, length));
      const { lastIndex, warnings } = await recovered();
      expect(lastIndex, `cut at ${length}`).toBe(length === content.length ? 5 : 3);
      expect(warnings.length, `cut at ${length}`).toBe(length > start && length < content.length ? 1 : 0);
    }
  });

  test("zeros from any byte on, as after a crash in a preallocated file", async () => {
    const { path, content, start } = await written();
    const lastByte = content.length - 1;
    for (let from = start; from <= lastByte; from += 1) {
      const torn = Buffer.concat([content, Buffer.alloc(500)]);
      torn.fill(0, from);
      if (torn.subarray(0, content.length).equals(content)) continue; // it ended in zeros
      await writeFile(path, torn);
      expect((await recovered()).lastIndex, `zeros from ${from}`).toBe(3);
    }
  });

  test("a flipped bit in the last record truncates it", async () => {
    const { path, content, start } = await written();
    for (let bit = start * 8; bit < content.length * 8; bit += 1) {
      await writeFile(path, flipped(content, bit));
      expect((await recovered()).lastIndex, `bit ${bit}`).toBe(3);
    }
  });

  test("the log continues after truncation", async () => {
    const { path, content } = await written();
    await truncate(path, content.length - 1);
    const warnings: string[] = [];
    const log = await openEmbeddedLog({ dir, onWarning: (text) => warnings.push(text) });
    expect(warnings).toEqual([
      expect.stringMatching(/\.seg: truncated an incomplete write of \d+ bytes at offset \d+/),
    ]);
    const leader = await lead(log);
    await fill(log, leader, 4, 6);
    await log.close();
    const again = await openEmbeddedLog({ dir });
    expect((await readThrough(again, 1, 6)).map(textOf)).toEqual([1, 2, 3, 4, 5, 6].map((n) => `entry ${n}`));
    await again.close();
  });

  test("bytes of an entry that look like a later record do not make a torn tail look like damage", async () => {
    const { path, content, start } = await written();
    const log = await openEmbeddedLog({ dir });
    const leader = await lead(log);
    const fake = Uint8Array.from(content.subarray(start)); // a frame of this very segment, of older entries
    await log.append(leader, [{ index: logIndex(6), term: leader.term, bytes: fake }]);
    await log.close();
    const whole = await readFile(path);
    await writeFile(path, whole.subarray(0, whole.length - 1));
    expect((await recovered()).lastIndex).toBe(5);
  });
});

describe("damage in the middle", () => {
  test("a flipped bit before the last record is refused, with file and offset", async () => {
    const { path, content, start } = await written();
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 32 * 8, max: start * 8 - 1 }), async (bit) => {
        await writeFile(path, flipped(content, bit));
        await expect(recovered()).rejects.toMatchObject({
          code: "corrupt",
          message: expect.stringMatching(/0000000000000001\.seg: the record at offset \d+/),
        });
      }),
      { numRuns: 200 },
    );
  });

  test("opening is refused and leaves the lock free", async () => {
    const { path, content } = await written();
    await writeFile(path, flipped(content, 40 * 8));
    await expect(openEmbeddedLog({ dir })).rejects.toMatchObject({ code: "corrupt" });
    await writeFile(path, content);
    await (await openEmbeddedLog({ dir })).close();
  });

  test("a damaged segment header, an incomplete earlier segment and a missing one are refused", async () => {
    const log = await openEmbeddedLog({ dir, segmentBytes: 1024 });
    await fill(log, await lead(log), 1, 12, 200);
    await log.close();
    const [first = "", second = "", third = ""] = await segments();
    const saved = join(dir, "saved");
    for (const [path, damage] of [
      [second, async () => writeFile(second, flipped(await readFile(second), 9 * 8))],
      [first, async () => truncate(first, (await readFile(first)).length - 1)],
      [first, async () => truncate(first, 10)],
      [second, () => rm(second)],
    ] as const) {
      await copyFile(path, saved);
      await damage();
      await expect(recovered()).rejects.toMatchObject({ code: "corrupt", message: expect.stringContaining(".seg") });
      await copyFile(saved, path);
    }
    expect(third).not.toBe("");
    expect((await recovered()).lastIndex).toBe(12);
  });

  test("the reader detects damage while the log is open", async () => {
    const writer = await openEmbeddedLog({ dir, segmentBytes: 1024 });
    await fill(writer, await lead(writer), 1, 12, 200);
    await writer.close();
    const log = await openEmbeddedLog({ dir, segmentBytes: 1024 });
    const [, second = ""] = await segments();
    await writeFile(second, flipped(await readFile(second), 100 * 8));
    await expect(readThrough(log, 1, 12)).rejects.toMatchObject({ code: "corrupt" });
    await log.close();
  });

  test("a damaged term is refused", async () => {
    await written();
    await writeFile(join(dir, "term"), "seven");
    await expect(openEmbeddedLog({ dir })).rejects.toMatchObject({ code: "corrupt" });
  });
});

describe("remains of a crash", () => {
  test("partial files are removed, and a lost term file does not repeat a term", async () => {
    await written();
    await mkdir(join(dir, "snapshots"), { recursive: true });
    await writeFile(join(dir, "snapshots", "snap-5-1.jsonl.tmp"), "half");
    await writeFile(join(dir, "0000000000000006.seg.tmp"), "half");
    await rm(join(dir, "term"));
    const log = await openEmbeddedLog({ dir });
    expect(await readdir(join(dir, "snapshots"))).toEqual([]);
    expect(await segments()).toHaveLength(1);
    expect((await lead(log)).term).toBe(2);
    await log.close();
  });

  test("a snapshot alone, as after a restore, starts the log behind it", async () => {
    const log = await openEmbeddedLog({ dir });
    const leader = await lead(log);
    await fill(log, leader, 1, 9);
    await log.saveSnapshot({ index: logIndex(9), term: leader.term }, ["state"]);
    await log.close();
    for (const path of await segments()) await rm(path);
    await rm(join(dir, "term"));
    const again = await openEmbeddedLog({ dir });
    expect(again.status()).toMatchObject({ firstIndex: 10, lastIndex: 9, term: 1 });
    await fill(again, await lead(again), 10, 11);
    expect((await readThrough(again, 10, 11)).map((entry) => entry.index)).toEqual([10, 11]);
    await again.close();
  });

  test("a corrupt newest snapshot is skipped with a warning", async () => {
    const log = await openEmbeddedLog({ dir });
    const leader = await lead(log);
    await fill(log, leader, 1, 3);
    for (const index of [1, 2, 3]) {
      await log.saveSnapshot({ index: logIndex(index), term: leader.term }, [`at ${index}`]);
    }
    await log.close();
    const newest = join(dir, "snapshots", "snap-3-1.jsonl");
    const content = await readFile(newest);
    for (const damage of [
      content.subarray(0, 3),
      Buffer.alloc(0),
      flipped(content, 8),
      flipped(content, content.length * 8 - 40),
    ]) {
      await writeFile(newest, damage);
      const warnings: string[] = [];
      const again = await openEmbeddedLog({ dir, onWarning: (text) => warnings.push(text) });
      expect((await again.loadSnapshot())?.info.index).toBe(2);
      expect(warnings[0]).toContain("snap-3-1.jsonl: not usable");
      await again.close();
    }
  });
});

function flipped(content: Buffer, bit: number): Buffer {
  const copy = Buffer.from(content);
  const at = bit >> 3;
  copy[at] = (copy[at] ?? 0) ^ (1 << (bit & 7));
  return copy;
}
