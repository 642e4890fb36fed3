// Output to upload next, to free and to drop: as a table, and over random histories.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { freeable, nextChunk, type StreamState, trimmed } from "../../src/logs/ship/plan.ts";

const LIMITS = { ringBytes: 100, bufferBytes: 300, whileSent: 4, chunkBytes: 50, flushMs: 1_000 };
const START: StreamState = { start: 0, shipped: 0, chunk: 0, flushedAtMs: 0, dropped: 0 };

describe("the shipping plan", () => {
  test.each([
    ["nothing new", START, { size: 0, live: true, nowMs: 9_999 }, null],
    ["a whole chunk at once", START, { size: 120, live: true, nowMs: 0 }, { start: 0, end: 50 }],
    ["a small one not before its time", START, { size: 20, live: true, nowMs: 999 }, null],
    ["a small one in time", START, { size: 20, live: true, nowMs: 1_000 }, { start: 0, end: 20 }],
    ["the rest when nothing more comes", START, { size: 20, live: false, nowMs: 0 }, { start: 0, end: 20 }],
    ["less often when there are many", { ...START, chunk: 200 }, { size: 20, live: true, nowMs: 1_500 }, null],
  ])("%s", (_what, state, seen, expected) => {
    expect(nextChunk(state, seen, LIMITS)).toEqual(expected);
  });

  test("for any history, only sent or counted bytes are freed, and the buffer is bounded", () => {
    const step = fc.record({
      written: fc.nat(200),
      store: fc.constantFrom<"takes all" | "is slow" | "away">("takes all", "is slow", "away"),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let state = START;
        let size = 0;
        let sent = 0;
        for (const { written, store } of steps) {
          size += written;
          const taken = store !== "away";
          state = trimmed(state, { size, diskBytes: size, taken }, LIMITS);
          let left = { away: 0, "is slow": 1, "takes all": Number.POSITIVE_INFINITY }[store];
          for (let next = nextChunk(state, { size, live: false, nowMs: 0 }, LIMITS); left > 0 && next !== null; ) {
            left -= 1;
            expect(next.start).toBe(state.shipped);
            sent += next.end - next.start;
            state = { ...state, shipped: next.end, chunk: state.chunk + 1 };
            next = nextChunk(state, { size, live: false, nowMs: 0 }, LIMITS);
          }
          state = trimmed(state, { size, diskBytes: size, taken }, LIMITS);
          expect(sent + state.dropped).toBe(state.shipped);
          expect(state.start).toBeLessThanOrEqual(state.shipped);
          expect(size - state.start).toBeLessThanOrEqual(LIMITS.bufferBytes * (taken ? LIMITS.whileSent : 1));
          if (store === "takes all") expect(size - state.start).toBeLessThanOrEqual(LIMITS.ringBytes);
        }
      }),
    );
  });

  test("a log with holes keeps its newest part only, and one on a compressing file system all of it", () => {
    const size = 2 ** 44;
    expect(trimmed(START, { size, diskBytes: 8_192, taken: true }, LIMITS)).toMatchObject({ shipped: size - 100 });
    expect(trimmed(START, { size: 1_100, diskBytes: 40, taken: true }, LIMITS)).toMatchObject({ shipped: 0 });
  });

  test.each([
    ["that is away: as much as the buffer", false, { dropped: 700, start: 700 }],
    ["that takes it, however slowly: all of it", true, { dropped: 0, start: 0 }],
  ])("what waits for a store %s", (_what, taken, expected) => {
    expect(trimmed(START, { size: 1_000, diskBytes: 1_000, taken }, LIMITS)).toMatchObject(expected);
  });

  test("output beyond the buffer of a slow store is counted as lost", () => {
    expect(trimmed(START, { size: 1_500, diskBytes: 1_500, taken: true }, LIMITS)).toMatchObject({
      dropped: 300,
      shipped: 300,
    });
  });

  test("only whole blocks are freed", () => {
    expect(freeable(0, 4095)).toBeNull();
    expect(freeable(0, 10_000)).toEqual({ offset: 0, length: 8192 });
    expect(freeable(8192, 20_000)).toEqual({ offset: 8192, length: 8192 });
  });
});
