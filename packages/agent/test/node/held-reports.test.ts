// The reports of elements: starts wait for a moment, an end before that brings both times, and ends are sent together.

import { expect, test } from "vitest";
import { heldReports } from "../../src/node/held-reports.ts";

function world() {
  const timers = new Set<() => void>();
  const sent: string[] = [];
  const starts = heldReports((_ms, run) => {
    timers.add(run);
    return () => void timers.delete(run);
  });
  const hold = (key: string, atMs = 100) => starts.hold(key, atMs, () => sent.push(key));
  const pass = () => {
    for (const run of timers) run();
    timers.clear();
  };
  return { starts, sent, hold, pass };
}

test("a job's start is reported at once", () => {
  const { hold } = world();
  expect(hold("12.1")).toBe(false);
});

test("an element's start is reported when it still runs after a moment, and a repetition at once", () => {
  const { hold, pass, sent } = world();
  expect(hold("12_7.1")).toBe(true);
  expect(hold("12_7.1")).toBe(false);
  pass();
  expect(sent).toEqual(["12_7.1"]);
});

test("an end replaces the held report and knows the start, also after a restart of the agent", () => {
  const { starts, hold, pass, sent } = world();
  hold("12_7.1", 400);
  starts.recovered("12_8.1", 500);
  expect([starts.ended("12_7.1"), starts.ended("12_8.1"), starts.ended("12_9.1")]).toEqual([
    { startedAtMs: 400 },
    { startedAtMs: 500 },
    {},
  ]);
  pass();
  expect(sent).toEqual([]);
});

test("dropped attempts and a closed node report nothing", () => {
  const { starts, hold, pass, sent } = world();
  hold("12_7.1");
  starts.drop("12_7.1");
  hold("12_8.1");
  starts.close();
  pass();
  expect([sent, starts.ended("12_7.1")]).toEqual([[], {}]);
});

test("ends are sent together while another element waits for the node, in their order, and at once otherwise", () => {
  const { starts, pass, sent } = world();
  for (const key of ["1_1", "1_2"]) starts.sendEnd(true, () => sent.push(key));
  expect(sent).toEqual([]);
  pass();
  expect(sent).toEqual(["1_1", "1_2"]);
  starts.sendEnd(true, () => sent.push("1_3"));
  starts.sendEnd(false, () => sent.push("1_4"));
  expect(sent).toEqual(["1_1", "1_2", "1_3", "1_4"]);
  pass();
  expect(sent).toHaveLength(4);
});
