// Closing a gap: the order of sources, the accepted answers, and the retries.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { logIndex } from "@lattice/core";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type HistoryPage, type HistorySource, startHistoryFill } from "../../../src/state/history/fill.ts";
import { type History, openHistory, type StoredRecord } from "../../../src/state/history/index.ts";
import { createTestClock, type TestClock } from "../../base/clock.ts";
import { finished } from "./records.ts";

let dir: string;
let history: History;
let clock: TestClock;
const quiet = pino({ level: "silent" });

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "lattice-fill-"));
  history = await openHistory({ dir });
  clock = createTestClock();
});
afterEach(async () => {
  await history.close();
  await rm(dir, { recursive: true, force: true, maxRetries: 9 });
});

const record = (index: number, id: number): StoredRecord => ({ index, json: JSON.stringify(finished(id).record) });
const page = (whole: boolean, ...records: StoredRecord[]): HistoryPage => ({ whole, records });

/** Answers each request with the next of these; an error ends the answer at that point. */
function source(id: string, ...answers: (readonly (HistoryPage | Error)[])[]) {
  const asked: string[] = [];
  const made: HistorySource = {
    id,
    token: `token of ${id}`,
    async *read(after, through) {
      asked.push(`${after}..${through}`);
      for (const item of answers.shift() ?? [new Error("nothing more to say")]) {
        if (item instanceof Error) throw item;
        yield item;
      }
    },
  };
  return { made, asked };
}

async function filled(sources: () => readonly HistorySource[]) {
  const fill = startHistoryFill({ history, sources, clock, logger: quiet });
  let over = false;
  void fill.done.then(() => {
    over = true;
  });
  for (let round = 0; round < 10_000 && !over; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    await clock.advance(1_000);
  }
  await fill.close();
  return over;
}

test("no source is queried when nothing is missing", async () => {
  history.begin(logIndex(0));
  const one = source("s1");
  expect(await filled(() => [one.made])).toBe(true);
  expect(one.asked).toEqual([]);
});

test("one complete source is enough", async () => {
  history.begin(logIndex(50));
  const one = source("s1", [page(true), page(false, record(3, 1), record(4, 2)), page(false, record(9, 3))]);
  const two = source("s2");
  expect(await filled(() => [one.made, two.made])).toBe(true);
  expect(one.asked).toEqual(["0..50"]);
  expect(two.asked).toEqual([]);
  expect(await history.count()).toBe(3);
  expect(history.gap()).toBeNull();
});

test("an interrupted answer is continued at any source", async () => {
  history.begin(logIndex(50));
  const one = source("s1", [page(true), page(false, record(3, 1), record(7, 2)), new Error("connection lost")]);
  const two = source("s2", [page(true, record(7, 2), record(7, 3)), page(false, record(20, 4))]);
  expect(await filled(() => [one.made, two.made])).toBe(true);
  // Entry 7 may have had more records.
  expect(two.asked).toEqual(["6..50"]);
  expect(await history.count()).toBe(4);
});

test("incomplete sources contribute once, until a complete one is found", async () => {
  history.begin(logIndex(50));
  const partial = source("s1", [page(false, record(3, 1))], [page(false, record(3, 1))], [page(false, record(3, 1))]);
  const later = source("s2", [page(true, record(3, 1), record(9, 2))]);
  let round = 0;
  const there = () => {
    round += 1;
    return round < 3 ? [partial.made] : [partial.made, later.made];
  };
  expect(await filled(there)).toBe(true);
  expect(partial.asked).toEqual(["0..50", "0..50", "0..50"]);
  expect(later.asked).toEqual(["0..50"]);
  expect(await history.count()).toBe(2);
});

test("without sources it waits, and can be stopped", async () => {
  history.begin(logIndex(50));
  const fill = startHistoryFill({ history, sources: () => [], clock, logger: quiet });
  await clock.advance(10_000);
  await fill.close();
  expect(history.gap()).toEqual({ after: 0, through: 50 });
});

test("a silent source is skipped", async () => {
  history.begin(logIndex(50));
  const silent: HistorySource = {
    id: "s1",
    token: "t",
    async *read(_after, _through, signal) {
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
      yield page(true);
    },
  };
  const two = source("s2", [page(true, record(3, 1))]);
  expect(await filled(() => [silent, two.made])).toBe(true);
  expect(await history.count()).toBe(1);
});
