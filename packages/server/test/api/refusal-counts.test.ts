// Repeated refusals cost two records a minute, whatever their number.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createRefusalCounts } from "../../src/api/handlers/refusal-counts.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("the first refusal is written at once, and repetitions are counted for a minute", () => {
  const counts = createRefusalCounts();
  const written: string[] = [];
  for (let n = 0; n < 1_000; n += 1) counts.refuse("eve 7", "GetLogs", (detail) => written.push(detail));
  counts.refuse("eve 8", "GetLogs", (detail) => written.push(`8 ${detail}`));
  expect(written).toEqual(["GetLogs", "8 GetLogs"]);
  vi.advanceTimersByTime(60_000);
  expect(written).toEqual(["GetLogs", "8 GetLogs", "GetLogs; 999 more refusals within a minute"]);
  counts.refuse("eve 7", "GetLogs", (detail) => written.push(detail));
  expect(written).toHaveLength(4);
});

test("many subjects do not fill the memory", () => {
  const counts = createRefusalCounts();
  let written = 0;
  for (let n = 0; n < 20_000; n += 1) counts.refuse(`eve ${n}`, "GetLogs", () => (written += 1));
  expect(written).toBe(10_000);
});
