// Repeated refusals cost a few records a minute, whatever their number.
import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RefusalCounts } from "../../src/api/handlers/refusal-counts.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function counting() {
  const counts = new RefusalCounts();
  const written: string[] = [];
  return {
    written,
    refuse: (user: string, subject: string, action = "GetLogs") =>
      counts.refuse({ user, subject, action }, (detail) => written.push(`${user} ${subject}: ${detail}`)),
  };
}

test("the first refusal is written at once, and repetitions are counted for a minute", () => {
  const { refuse, written } = counting();
  for (let n = 0; n < 1_000; n += 1) refuse("eve", "7");
  refuse("eve", "8");
  refuse("eve", "7", "GetDiagnostics");
  expect(written).toEqual(["eve 7: GetLogs", "eve 8: GetLogs", "eve 7: GetDiagnostics"]);
  vi.advanceTimersByTime(60_000);
  expect(written.slice(3)).toEqual(["eve 7: GetLogs; 999 more refusals within a minute"]);
  refuse("eve", "7");
  expect(written).toHaveLength(5);
});

test("a user who tries many allocations leaves a bounded number of records, and all refusals are counted", () => {
  const { refuse, written } = counting();
  for (let n = 0; n < 5_000; n += 1) refuse("eve", String(n));
  refuse("mallory", "7");
  expect(written).toHaveLength(21);
  expect(written.at(-1)).toBe("mallory 7: GetLogs");
  vi.advanceTimersByTime(60_000);
  expect(written.slice(21)).toEqual([
    "eve 4999: 4980 more refusals of the user within a minute, of other actions or other work",
  ]);
  refuse("eve", "1");
  expect(written.at(-1)).toBe("eve 1: GetLogs");
});

test("no refusal is lost from the counts, and a minute has at most 41 records of a user", () => {
  const refusals = fc.array(fc.tuple(fc.nat({ max: 40 }), fc.constantFrom("GetLogs", "StreamLogs")), {
    maxLength: 300,
  });
  fc.assert(
    fc.property(refusals, (all) => {
      const { refuse, written } = counting();
      for (const [subject, action] of all) refuse("eve", String(subject), action);
      vi.advanceTimersByTime(60_000);
      expect(written.length).toBeLessThanOrEqual(41);
      const counted = written.map((line) => Number(/(\d+) more refusals/.exec(line)?.[1] ?? 1));
      expect(counted.reduce((sum, n) => sum + n, 0)).toBe(all.length);
    }),
  );
});

test("many users do not fill the memory", () => {
  const { refuse, written } = counting();
  for (let n = 0; n < 20_000; n += 1) refuse(`eve-${n}`, "7");
  expect(written).toHaveLength(1_000);
});
