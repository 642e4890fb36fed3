// Buffers that are dead do not gather while bytes pass through.

import { expect, test } from "vitest";
import { passedOn } from "../../src/logs/young-garbage.ts";

const PIECE = 64 * 1024;
const PIECES = 4_000;

test("passing on 256 MB in chunks never holds more than a few megabytes", () => {
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  for (let n = 0; n < PIECES; n++) {
    Buffer.alloc(PIECE, n);
    passedOn(PIECE);
    if (n % 16 === 0) most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }
  expect(most).toBeLessThan(16 * 1024 ** 2);
});
