// Power and storage budgets: tables for the rules, and a naive timeline that checks every instant.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Job } from "../../src/fit/job.ts";
import { type CycleInput, cycle, type PendingInput } from "../../src/index.ts";
import type { Budgets } from "../../src/limits/budgets.ts";
import { draftOf, jobFrom } from "../drafts.ts";
import { busy, input, job, MINUTE, NOW, node, release } from "../make.ts";

const never = Number.POSITIVE_INFINITY;
const at = (minutes: number): number => NOW + minutes * MINUTE;

function budgetsOf(given: Partial<CycleInput>): Budgets {
  const { budgets } = draftOf(given);
  if (budgets === null) throw new Error("nothing is limited");
  return budgets;
}

/** Every instant after now at which a resource is returned that the job uses. */
function returnsOf(budgets: Budgets | null, one: Job): number[] {
  const next = budgets?.returnsOf(one) ?? (() => never);
  const all: number[] = [];
  for (let from = next(NOW); from !== never; from = next(from)) all.push(from);
  return all;
}

describe("budgets", () => {
  const powered = ["a", "b", "c", "d"].map((id) => node(id, { powerWatts: 500 }));

  it("exist only where a limit is known", () => {
    expect(draftOf({ nodes: powered }).budgets).toBeNull();
    expect(draftOf({ nodes: powered, signals: { energyPrice: 1 } }).budgets).toBeNull();
    expect(draftOf({ nodes: powered, signals: { power: { limit: 1, used: 0 } } }).budgets).not.toBeNull();
  });

  it.each([
    { limit: 2000, used: 0, atMost: 9, expected: 4 },
    { limit: 1999, used: 0, atMost: 9, expected: 3 },
    { limit: 2000, used: 0, atMost: 2, expected: 2 },
    { limit: 2000, used: 1501, atMost: 9, expected: 0 },
    { limit: 2000, used: 2500, atMost: 9, expected: 0 },
  ])("of $limit W with $used W used allow $expected of $atMost nodes", ({ limit, used, atMost, expected }) => {
    const draft = draftOf({ nodes: powered, signals: { power: { limit, used } } });
    expect(draft.budgets?.most(jobFrom(draft, 1), atMost, NOW, at(10))).toBe(expected);
  });

  it("charge the largest matching node before the nodes are known, and the nodes afterwards", () => {
    const nodes = [node("a", { powerWatts: 100 }), node("b", { powerWatts: 900 })];
    const draft = draftOf({ nodes, signals: { power: { limit: 1800, used: 0 } } });
    const one = jobFrom(draft, 1, { minutes: 10 });
    expect(draft.budgets?.most(one, 9, NOW, at(10))).toBe(2);
    draft.budgets?.charge(one, [0]);
    expect(draft.budgets?.left("power", NOW, at(1))).toBe(1700);
  });

  it("regain the use of a start when it ends, and nothing of an unbounded one", () => {
    const given = { nodes: powered, signals: { power: { limit: 2000, used: 0 } } };
    const draft = draftOf(given);
    draft.budgets?.charge(jobFrom(draft, 1, { minutes: 9.5 }), [0, 1]);
    draft.budgets?.charge(jobFrom(draft, 2, { minutes: null }), [2]);
    expect([at(0), at(10) - 1, at(10), at(10_000)].map((from) => draft.budgets?.left("power", from, from + 1))).toEqual(
      [500, 500, 1500, 1500],
    );
  });

  it("reserve the needs of a reservation, within its interval only", () => {
    const draft = draftOf({ nodes: powered, signals: { power: { limit: 2000, used: 0 } } });
    const later = jobFrom(draft, 1, { nodes: 3 });
    draft.budgets?.reserve(later, at(60), at(90));
    const left = (from: number, to: number) => draft.budgets?.left("power", at(from), at(to));
    expect([left(0, 60), left(0, 61), left(60, 61), left(89, 95), left(90, 95)]).toEqual([2000, 500, 500, 500, 2000]);
    draft.budgets?.release(later);
    expect(left(0, 61)).toBe(2000);
  });

  it("return a resource at the ends of running work, of starts and of reservations, to jobs that use it", () => {
    const nodes = [...powered, busy("e", { powerWatts: 500 })];
    const signals = { power: { limit: 9000, used: 500 }, storage: { limit: 100, used: 0 } };
    const draft = draftOf({ nodes, signals, releases: [{ ...release(30, "e"), storageMBps: 0 }] });
    const uses = { constraints: { storageMBps: 10 } };
    draft.budgets?.charge(jobFrom(draft, 1, { minutes: 9.5, ...uses }), [0]);
    draft.budgets?.charge(jobFrom(draft, 2, { minutes: null, ...uses }), [1]);
    draft.budgets?.reserve(jobFrom(draft, 3, uses), at(40), at(50));
    const returns = returnsOf(draft.budgets, jobFrom(draft, 4));
    expect(returns).toEqual([at(10), at(30), at(50)]);
    const withoutPower = draftOf({ nodes: [node("a")], signals });
    expect(returnsOf(withoutPower.budgets, jobFrom(withoutPower, 5))).toEqual([]);
  });

  it("name the scarce resource: power before storage", () => {
    const scarce = (power: number, storage: number, fields = {}) => {
      const signals = { power: { limit: power, used: 0 }, storage: { limit: storage, used: 0 } };
      const draft = draftOf({ nodes: powered, signals });
      return draft.budgets?.scarce(jobFrom(draft, 1, { constraints: { storageMBps: 100 }, ...fields }), NOW);
    };
    expect([scarce(499, 99), scarce(500, 99), scarce(500, 100), scarce(499, 100)]).toEqual([
      "power",
      "storage",
      null,
      "power",
    ]);
  });

  it("are unlimited for a resource without a limit", () => {
    const budgets = budgetsOf({ nodes: powered, signals: { power: { limit: 1, used: 0 } } });
    expect(budgets.left("storage", NOW, at(1))).toBe(never);
  });

  it("count overdue work as released soon, and unbounded work never", () => {
    const nodes = [busy("a", { powerWatts: 300 }), busy("b", { powerWatts: 400 })];
    const releases = [release(-5, "a"), release(null, "b")];
    const budgets = budgetsOf({ nodes, releases, signals: { power: { limit: 1000, used: 700 } } });
    expect([at(0), at(0.5), at(1e6)].map((from) => budgets.left("power", from, from + 1))).toEqual([300, 600, 600]);
  });
});

describe("every plan within budgets", () => {
  const someJob = fc.record({
    nodes: fc.integer({ min: 1, max: 4 }),
    minutes: fc.integer({ min: 1, max: 90 }),
    storage: fc.nat(400),
  });
  const someCase = fc.record({
    watts: fc.array(fc.constantFrom(100, 300, 500), { minLength: 4, maxLength: 8 }),
    busyMinutes: fc.array(fc.option(fc.integer({ min: 1, max: 90 }), { nil: undefined }), {
      minLength: 8,
      maxLength: 8,
    }),
    jobs: fc.array(someJob, { minLength: 2, maxLength: 8 }),
    power: fc.integer({ min: 300, max: 1200 }),
    storage: fc.integer({ min: 100, max: 500 }),
    depth: fc.integer({ min: 1, max: 4 }),
  });

  it("keeps power and storage below their limits at every instant, reservations included", () => {
    let limited = 0;
    fc.assert(
      fc.property(someCase, ({ watts, busyMinutes, jobs, power, storage, depth }) => {
        const nodes = watts.map((powerWatts, i) =>
          (busyMinutes[i] === undefined ? node : busy)(`n${i}`, { powerWatts }),
        );
        const wattsOf = new Map<string, number>(nodes.map(({ id, powerWatts = 0 }) => [id, powerWatts]));
        const releases = nodes.flatMap(({ id }, i) => {
          const minutes = busyMinutes[i];
          return minutes === undefined ? [] : [release(minutes, id)];
        });
        const used = releases.reduce((sum, { nodes: [id = ""] }) => sum + (wattsOf.get(id) ?? 0), 0);
        const pending = jobs.map(({ nodes: count, minutes, storage: storageMBps }, i) =>
          job(i + 1, { nodes: count, minutes, waited: 20 - i, constraints: { storageMBps } }),
        );
        const given = input({
          nodes,
          releases,
          pending,
          isFifo: true,
          backfillDepth: depth,
          signals: { power: { limit: used + power, used }, storage: { limit: storage, used: 0 } },
        });
        const { placements, reservations, reasons } = cycle(given);
        const byId = new Map(pending.map((each) => [each.id, each]));
        const planned = [
          ...placements.map(({ allocation, nodes: taken }) => ({ allocation, taken, from: NOW as number })),
          ...reservations.map(({ allocation, nodes: taken, startsAt }) => ({
            allocation,
            taken,
            from: startsAt as number,
          })),
        ].map(({ allocation, taken, from }) => {
          const request = byId.get(allocation) as PendingInput;
          return {
            from,
            to: from + (request.walltime ?? never) + 30_000,
            storage: request.constraints.storageMBps ?? 0,
            watts: taken.reduce((sum, id) => sum + (wattsOf.get(id) ?? 0), 0),
          };
        });
        for (const { from: instant } of planned) {
          const now = planned.filter(({ from, to }) => from <= instant && instant < to);
          const running = releases.filter(({ endsAt }) => (endsAt ?? never) > instant);
          const drawn = running.reduce((sum, { nodes: [id = ""] }) => sum + (wattsOf.get(id) ?? 0), 0);
          expect(drawn + now.reduce((sum, { watts: own }) => sum + own, 0)).toBeLessThanOrEqual(used + power);
          expect(now.reduce((sum, { storage: own }) => sum + own, 0)).toBeLessThanOrEqual(storage);
        }
        if ([...reasons.values()].flat().some(({ code }) => code === "power" || code === "storage")) limited += 1;
      }),
      { numRuns: 250 },
    );
    expect(limited).toBeGreaterThan(50);
  });
});
