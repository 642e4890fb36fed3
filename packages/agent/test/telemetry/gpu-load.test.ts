// GPU load: sampled, averaged, omitted when stale; and the output of rocm-smi.

import { expect, test } from "vitest";
import { parseRocmLoad } from "../../src/discovery/gpus/rocm.ts";
import { gpuLoad } from "../../src/telemetry/gpu-load.ts";

test("the mean over the reporting GPUs, queried at most every few seconds", async () => {
  let now = 0;
  let asked = 0;
  let answer: readonly (number | null)[] | null = [0.2, null, 0.4];
  const load = gpuLoad({
    now: () => now,
    ask: async () => {
      asked += 1;
      return answer;
    },
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  expect(load.mean()).toBeNull();
  await settle();
  expect(load.mean()).toBeCloseTo(0.3);
  now = 4_999;
  load.mean();
  expect(asked).toBe(1);
  now = 5_000;
  answer = null;
  expect(load.mean(), "the last answer holds until the next is there").toBeCloseTo(0.3);
  await settle();
  expect([load.mean(), asked]).toEqual([null, 2]);
});

test("outdated and failed values are not reported", async () => {
  let now = 0;
  let fails = false;
  const load = gpuLoad({
    now: () => now,
    ask: () => (fails ? new Promise(() => undefined) : Promise.resolve([0.5])),
  });
  load.mean();
  await new Promise((resolve) => setImmediate(resolve));
  fails = true;
  now = 30_000;
  expect(load.mean()).toBe(0.5);
  now = 30_001;
  expect(load.mean()).toBeNull();
});

test("rocm-smi reports percent per card", () => {
  const text = JSON.stringify({ card1: { "GPU use (%)": "7" }, card0: { "GPU use (%)": "93" }, card2: {}, system: {} });
  expect(parseRocmLoad(text)).toEqual([0.93, 0.07, null]);
  expect(parseRocmLoad("?")).toBeNull();
});
