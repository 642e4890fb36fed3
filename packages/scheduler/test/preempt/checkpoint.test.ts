// Victims that take checkpoints: they may have any class but the highest, cost less, and are spared while their storage is
// unavailable. Also the worth of a checkpoint.

import { describe, expect, it } from "vitest";
import { type CycleResult, cycle, type WorthInput, worthOf } from "../../src/index.ts";
import { allocationId, job, nodesIn } from "../make.ts";
import { full, running } from "./make.ts";

const four = nodesIn("g0", "a", "b", "c", "d");
const claim = job(1, { class: 10, nodes: 2 });
const stopped = ({ preemptions }: CycleResult): string[] =>
  preemptions.flatMap(({ victims }) => victims.map(({ allocation, force }) => `${allocation}${force ? "!" : ""}`));
const saving = (n: number, nodes: readonly string[], of: number) => ({
  ...running(n, nodes as never, { class: of }),
  checkpoints: true,
});

describe("a preemption", () => {
  it("stops class 7 and above only where a checkpoint saves the work", () => {
    const all = ["a", "b", "c", "d"];
    expect(stopped(cycle(full(four, [running(11, all, { class: 8 })], { pending: [claim] })))).toEqual([]);
    expect(stopped(cycle(full(four, [saving(11, all, 8)], { pending: [claim] })))).toEqual(["11"]);
  });

  it("prefers a victim with checkpoints to one that would lose all its work", () => {
    const long = { class: 3, began: 120, minutes: 600 };
    const victims = [running(11, ["a", "b"], long), { ...running(12, ["c", "d"], long), checkpoints: true }];
    expect(stopped(cycle(full(four, victims, { pending: [claim] })))).toEqual(["12"]);
  });

  it("waits while a victim's storage is unavailable, except for a sensitive claim", () => {
    const given = full(four, [saving(11, ["a", "b", "c", "d"], 2)], { pending: [claim] });
    const signals = { cannotWrite: new Set([allocationId(11)]) };
    expect(stopped(cycle({ ...given, signals }))).toEqual([]);
    expect(stopped(cycle({ ...given, signals, isSensitive: true }))).toEqual(["11!"]);
  });
});

describe("the worth of a checkpoint", () => {
  const INPUT: WorthInput = {
    nodes: 1,
    devices: 4,
    sizeBytes: 320e9,
    writeSeconds: 32,
    sinceSeconds: 3_600,
    unhealthyNodes: 0,
    urgencyAbove: 0,
    candidates: 0,
    backlog: 0,
    remainingSeconds: null,
  };
  const RATES = { nodeMtbfSeconds: 6_000 * 3_600, storageSecondsPerGb: 0.02, quietSeconds: 21_600 };

  it("is the sum of its terms, and grows with time", () => {
    const now = worthOf(INPUT, RATES);
    expect(now.cost).toBeCloseTo(32 + 128 + 6.4);
    expect(now.value).toBeCloseTo(now.recomputeSaved);
    expect(worthOf({ ...INPUT, sinceSeconds: 7_200 }, RATES).value).toBeGreaterThan(3 * now.value);
  });

  it("pays first at about the square root of twice its cost times the time between failures", () => {
    const best = Math.sqrt(2 * 32 * 6_000 * 3_600);
    const pays = (sinceSeconds: number): boolean =>
      worthOf({ ...INPUT, sinceSeconds }, { ...RATES, quietSeconds: 1e9 }).pays;
    expect([pays(best * 0.6), pays(best * 1.2)]).toEqual([false, true]);
  });

  it("is not considered soon after the last checkpoint, however large it is", () => {
    const pressed = { ...INPUT, sinceSeconds: 300, urgencyAbove: 10, candidates: 1, backlog: 1 };
    expect(worthOf(pressed, RATES)).toMatchObject({ pays: false });
    expect(worthOf({ ...pressed, sinceSeconds: 1_000 }, RATES)).toMatchObject({ pays: true });
  });
});
