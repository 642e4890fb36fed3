// Bounds of reading logs (finding 10e of the review): a log of any apparent size costs a bounded read, and no user takes
// all log streams of a node.
import { mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { tailOffset } from "../../src/logs/tail.ts";

const folder = mkdtempSync(join(tmpdir(), "lattice-logs-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));

test("the tail of a log that claims 16 TB is found with a bounded read", async () => {
  const file = await open(join(folder, "stdout"), "w+");
  try {
    await file.write("first\nsecond\n");
    const size = 2 ** 43;
    await file.truncate(size);
    let read = 0;
    const counting = new Proxy(file, {
      get: (target, name) =>
        name !== "read"
          ? Reflect.get(target, name)
          : async (...words: Parameters<typeof file.read>) => {
              const got = await target.read(...words);
              read += got.bytesRead;
              return got;
            },
    });
    expect(await tailOffset(counting, size, 5)).toBe(size - 16 * 1024 * 1024 - 5 * 1024);
    expect(read).toBeLessThan(17 * 1024 * 1024);
    expect(await tailOffset(file, 13, 1)).toBe(6);
    expect(await tailOffset(file, 13, 9)).toBe(0);
  } finally {
    await file.close();
  }
});
