// A fixed set of seeds on every test run, and the property that makes a seed worth printing: it replays. Longer runs:
// npm run simulate -- --seeds 1-100 --minutes 30.

import { expect, test } from "vitest";
import { FAULT_KINDS } from "./faults/faults.ts";
import { describeReport, failed, type Report } from "./report.ts";
import { type RunOptions, simulate } from "./run.ts";
import { replayCommand } from "./shrink.ts";

const TIMEOUT_MS = 600_000;
const MINUTES = 5;

test.each([1, 2, 3, 6])(
  "seed %d: nothing is violated under faults, and everything ends",
  { timeout: TIMEOUT_MS },
  async (seed) => {
    const run = { seed, minutes: MINUTES, withoutUsers: ["short elements"] };
    const report = await simulate(run);
    expect(failed(report), explain(run, report)).toBe(false);
    expect(report.counts.completed).toBeGreaterThan(20);
    expect(Object.values(report.faults).reduce((sum, n) => sum + n, 0)).toBeGreaterThan(20);
  },
);

test("without faults no node is degraded and one server leads throughout", { timeout: TIMEOUT_MS }, async () => {
  const run: RunOptions = { seed: 7, minutes: MINUTES, kinds: [] };
  const report = await simulate(run);
  expect(failed(report), explain(run, report)).toBe(false);
  expect(report.elections).toBe(1);
  expect(report.counts.nodesDegraded).toBe(0);
});

test("a seed replays to the same trace, another seed to another", { timeout: TIMEOUT_MS }, async () => {
  const trace = async (seed: number): Promise<string> => (await simulate({ seed, minutes: 2 })).traceHash;
  const first = await trace(8);
  expect(await trace(8)).toBe(first);
  expect(await trace(9)).not.toBe(first);
});

test("real time and randomness throw during a simulation and work afterwards", { timeout: TIMEOUT_MS }, async () => {
  let asked: unknown = null;
  await simulate({
    seed: 10,
    minutes: 0.1,
    kinds: [],
    onNote() {
      try {
        Date.now();
      } catch (error) {
        asked ??= error;
      }
    },
  });
  expect(String(asked)).toContain("simulated code asked the real world: Date.now");
  expect(Date.now()).toBeGreaterThan(0);
});

test("the replay command names the excluded faults", () => {
  expect(replayCommand({ seed: 5, minutes: 60 })).toBe("npm run simulate -- --seed 5 --hours 1");
  expect(replayCommand({ seed: 5, minutes: 2.5, kinds: [] })).toBe(
    "npm run simulate -- --seed 5 --minutes 2.5 --no-faults",
  );
  const kinds = FAULT_KINDS.filter((kind) => kind !== "disk_full");
  expect(replayCommand({ seed: 5, minutes: 7, kinds })).toBe(
    "npm run simulate -- --seed 5 --minutes 7 --without disk_full",
  );
});

function explain(run: RunOptions, report: Report): string {
  const { violation, tooLittle } = report;
  const what = violation === null ? tooLittle.join("; ") : `${violation.rule}: ${violation.detail}`;
  return `${what}\nreplay: ${replayCommand(run)}\n${describeReport(report, 1)}`;
}
