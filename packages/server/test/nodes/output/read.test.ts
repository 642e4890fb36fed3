// Reading while the node deletes stored output: every byte comes once and in order, from the node or from the store; only
// bytes that neither has are missing.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ArchivedLog, LogPiece } from "../../../src/nodes/output/archive.ts";
import { type LiveLogs, readLogs } from "../../../src/nodes/output/read.ts";
import { query } from "./query.ts";

const never = new AbortController().signal;
const ALL = Buffer.from(Array.from({ length: 400 }, (_, n) => n % 251));

/** A store with the output up to `end`, except a lost part. */
function stored(end: number, chunkBytes: number, lost: readonly [number, number] = [0, 0]): ArchivedLog {
  async function* from(position: number): AsyncGenerator<LogPiece> {
    for (let at = 0; at < end; at += chunkBytes) {
      const to = Math.min(end, at + chunkBytes);
      if (to <= position || (at >= lost[0] && to <= lost[1])) continue;
      yield { data: ALL.subarray(Math.max(at, position), to), offset: to };
    }
  }
  return { end, complete: false, from, read: ({ offset }) => from(offset), tail: () => from(end) };
}

/** A node that deletes output while it is read: each step is the deleted amount. */
const node = (freed: readonly number[], pieceBytes: number): LiveLogs =>
  async function* ({ offset }) {
    let at = offset;
    for (let n = 0; at < ALL.length; n += 1) {
      at = Math.max(at, freed[n] ?? 0);
      if (at >= ALL.length) return;
      const data = ALL.subarray(at, at + pieceBytes);
      at += data.length;
      yield { data, offset: at };
    }
  };

async function read(from: AsyncIterable<LogPiece>): Promise<LogPiece[]> {
  const pieces: LogPiece[] = [];
  for await (const piece of from) pieces.push(piece);
  return pieces;
}

const bytesOf = (pieces: readonly LogPiece[]): Buffer => Buffer.concat(pieces.map(({ data }) => data));

describe("output that is deleted while it is read", () => {
  test("the output is complete, whenever parts are deleted", async () => {
    const sizes = fc.integer({ min: 1, max: 90 });
    const freed = fc.array(fc.integer({ min: 0, max: 380 }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(freed, sizes, sizes, fc.nat(300), async (steps, pieceBytes, chunkBytes, first) => {
        // Deleted output stays deleted, and was stored before.
        const growing = steps.toSorted((a, b) => a - b);
        let asked = 0;
        const find = async () => {
          asked += 1;
          return stored(asked === 1 ? first : 390, chunkBytes);
        };
        const pieces = await read(readLogs(query(), find, node(growing, pieceBytes), never));
        expect(bytesOf(pieces).equals(ALL)).toBe(true);
        let at = 0;
        for (const { data, offset } of pieces) {
          at += data.length;
          expect(offset).toBe(at);
        }
      }),
    );
  });

  test("a part that neither has is missing, and the positions show it", async () => {
    const find = async () => stored(390, 50, [100, 200]);
    const pieces = await read(readLogs(query(), find, node([300], 400), never));
    expect(pieces.map(({ data, offset }) => [offset - data.length, offset])).toEqual([
      [0, 50],
      [50, 100],
      [200, 250],
      [250, 300],
      [300, 350],
      [350, 390],
      [390, 400],
    ]);
  });

  test("the last lines start as on the node and continue without a gap", async () => {
    const live: LiveLogs = (asked) => node([250, 350], 20)(asked, never);
    const pieces = await read(readLogs(query({ tail: 3 }), async () => stored(390, 60), live, never));
    expect(bytesOf(pieces).equals(ALL.subarray(250))).toBe(true);
  });

  test("without a store a gap remains", async () => {
    const pieces = await read(readLogs(query(), async () => null, node([0, 100], 20), never));
    expect(bytesOf(pieces).equals(Buffer.concat([ALL.subarray(0, 20), ALL.subarray(100)]))).toBe(true);
  });
});
