// The record of entries that agents know and this server does not have: it ends when its cause is gone.

import pino from "pino";
import { expect, test } from "vitest";
import { createMissingEntries, FORGET_AFTER_MS, LOG_EVERY_MS } from "../../src/state/missing-entries.ts";
import { createTestClock } from "../base/clock.ts";

function watch() {
  const clock = createTestClock();
  const state = { applied: 10, entries: -1 };
  const lines: string[] = [];
  const missing = createMissingEntries({
    appliedIndex: () => state.applied,
    measured: (entries) => {
      state.entries = entries;
    },
    clock,
    logger: pino({}, { write: (line: string) => void lines.push(line) }),
  });
  return { clock, state, lines, missing };
}
const lost = (lines: readonly string[]): number => lines.filter((line) => line.includes("has lost entries")).length;

test("agents that know more are the number of entries, and one line a minute", async () => {
  const { clock, state, lines, missing } = watch();
  for (let n = 0; n < 5; n += 1) missing.known(`n${n}`, 12 + n);
  expect(state.entries).toBe(6);
  expect(lost(lines)).toBe(1);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ node: "n0", known: 12, applied: 10 });
  await clock.advance(LOG_EVERY_MS);
  missing.known("n1", 13);
  expect(lost(lines)).toBe(2);
  missing.close();
});

test("the record ends once the server has the entries", async () => {
  const { clock, state, lines, missing } = watch();
  missing.known("n1", 12);
  state.applied = 11;
  await clock.advance(2_000);
  expect(state.entries).toBe(1);
  state.applied = 12;
  await clock.advance(1_000);
  expect(state.entries).toBe(0);
  expect(lines.at(-1)).toContain("no entry is missing any more");
  // Another loss is recorded at once.
  missing.known("n1", 20);
  expect([lost(lines), state.entries]).toEqual([2, 8]);
  missing.close();
});

test("the record ends when no agent names the entries any more", async () => {
  const { clock, state, lines, missing } = watch();
  missing.known("n1", 12);
  await clock.advance(FORGET_AFTER_MS / 2);
  missing.known("n1", 12);
  await clock.advance(FORGET_AFTER_MS / 2 + 1_000);
  expect(state.entries).toBe(2);
  await clock.advance(FORGET_AFTER_MS);
  expect(state.entries).toBe(0);
  expect(lines.at(-1)).toContain("no agent names");
});
