// Invariants of every plan with all inputs at once: previous, foreign and awaited reservations, budgets, groups,
// conformance, shared nodes and victims.

import { instant, type NodeId, shortfalls, type TenantId } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WALLTIME_GRACE } from "../src/base/bounds.ts";
import {
  type CycleInput,
  type CycleResult,
  createCycleCache,
  cycle,
  type PendingInput,
  type SharedNodeInput,
} from "../src/index.ts";
import { someInput } from "./arbitrary.ts";
import { allocationId, MINUTE, NOW, nodeIds } from "./make.ts";

const names = fc.uniqueArray(fc.nat(8), { minLength: 1, maxLength: 4 }).map((list) => list.map((at) => `n${at}`));
const minutes = fc.integer({ min: -20, max: 200 });

/** The usual input, with reservations of every origin and requests limited in groups and conformance. */
const richInput: fc.Arbitrary<CycleInput> = fc
  .record({
    base: someInput,
    previous: fc.array(fc.record({ id: fc.integer({ min: 1, max: 14 }), at: minutes, on: names }), { maxLength: 4 }),
    foreign: fc.array(fc.record({ at: minutes, length: fc.option(fc.integer({ min: 1, max: 90 })), on: names }), {
      maxLength: 2,
    }),
    awaited: fc.array(fc.record({ id: fc.integer({ min: 1, max: 14 }), own: fc.boolean(), on: names }), {
      maxLength: 1,
    }),
  })
  .map(({ base, previous, foreign, awaited }) => ({
    ...base,
    previousReservations: [...new Map(previous.map((one) => [one.id, one])).values()].map(({ id, at, on }) => ({
      allocation: allocationId(id),
      startsAt: instant(NOW + at * MINUTE),
      nodes: nodeIds(...on),
    })),
    foreignReservations: foreign.map(({ at, length, on }) => ({
      startsAt: instant(NOW + at * MINUTE),
      endsAt: length === null ? null : instant(NOW + (at + length) * MINUTE),
      nodes: nodeIds(...on),
    })),
    awaiting: awaited.map(({ id, own, on }) => ({ allocation: allocationId(id), own, nodes: nodeIds(...on) })),
  }));

const occupancyOf = ({ walltime }: PendingInput): number =>
  walltime === null ? Number.POSITIVE_INFINITY : walltime + WALLTIME_GRACE;

function pendingOf(given: CycleInput, id: string): PendingInput {
  const found = given.pending.find((pending) => pending.id === id);
  if (found === undefined) throw new Error(`unknown allocation ${id}`);
  return found;
}

function expectPlacements(given: CycleInput, { placements }: CycleResult): number {
  const nodes = new Map(given.nodes.map((each) => [each.id, each]));
  const used = new Set<string>();
  for (const { allocation, nodes: taken } of placements) {
    const { constraints, minNodes, maxNodes } = pendingOf(given, allocation);
    expect(taken.length).toBeGreaterThanOrEqual(minNodes);
    expect(taken.length).toBeLessThanOrEqual(maxNodes);
    const records = taken.map((id) => nodes.get(id));
    for (const each of records) {
      if (each === undefined) throw new Error("unknown node");
      expect(each.free && !used.has(each.id)).toBe(true);
      used.add(each.id);
      expect(shortfalls(constraints, each.id, each)).toEqual([]);
    }
    expect(new Set(records.map((each) => each?.group)).size).toBeLessThanOrEqual(constraints.maxGroups ?? 99);
    if (constraints.requireConformance === true && taken.length > 1) {
      expect(new Set(records.map((each) => each?.conformance)).size).toBe(1);
      expect(records[0]?.conformance).not.toBe("");
    }
    for (const required of constraints.requiredNodes) expect(taken).toContain(required);
  }
  return placements.length;
}

/** No start runs into a reservation of another vCluster or a node that another allocation waits for. */
function expectUntouched(given: CycleInput, { placements, reservations }: CycleResult): void {
  const kept = [
    ...(given.foreignReservations ?? []).map(({ startsAt, endsAt, nodes }) => ({
      from: startsAt as number,
      to: endsAt ?? Number.POSITIVE_INFINITY,
      nodes,
    })),
    ...(given.awaiting ?? [])
      .filter(({ own }) => !own)
      .map(({ nodes }) => ({ from: given.now as number, to: Number.POSITIVE_INFINITY, nodes })),
  ];
  const planned = [
    ...placements.map(({ allocation, nodes }) => ({ allocation, nodes, from: given.now as number })),
    ...reservations
      // A reservation that is carried over was checked when it was made.
      .filter((one) => given.previousReservations?.includes(one) !== true)
      .map(({ allocation, nodes, startsAt }) => ({ allocation, nodes, from: startsAt as number })),
  ];
  for (const { allocation, nodes, from } of planned) {
    const to = from + occupancyOf(pendingOf(given, allocation));
    for (const other of kept)
      if (from < other.to && other.from < to && other.to > given.now)
        expect(nodes.filter((id: NodeId) => other.nodes.includes(id))).toEqual([]);
  }
}

describe("every plan with all inputs", () => {
  it("satisfies every hard constraint and leaves others' reservations untouched", () => {
    let placed = 0;
    let reserved = 0;
    fc.assert(
      fc.property(richInput, (given) => {
        const result = cycle(given);
        placed += expectPlacements(given, result);
        expectUntouched(given, result);
        expect(result.reservations.length).toBeLessThanOrEqual(given.backfillDepth);
        reserved += result.reservations.length;
        const starts = result.reservations.map(({ startsAt }) => startsAt as number);
        expect(starts).toEqual([...starts].sort((a, b) => a - b));
        for (const { allocation, startsAt } of result.reservations) {
          expect(startsAt).toBeGreaterThanOrEqual(given.now);
          expect(result.estimates.get(allocation)).toBe(startsAt);
        }
      }),
      { numRuns: 400 },
    );
    expect(placed).toBeGreaterThan(200);
    expect(reserved).toBeGreaterThan(100);
  });

  it("is the same whatever the order of its lists, and with or without a cache", () => {
    const reversed = <T>(list: readonly T[] | undefined): readonly T[] => [...(list ?? [])].reverse();
    fc.assert(
      fc.property(richInput, (given) => {
        const other: CycleInput = {
          ...given,
          nodes: reversed(given.nodes),
          pending: reversed(given.pending),
          releases: reversed(given.releases),
          tenants: reversed(given.tenants),
          previousReservations: reversed(given.previousReservations),
          awaiting: reversed(given.awaiting),
        };
        const result = cycle(given);
        expect(cycle(other)).toEqual(result);
        const turned = cycle({ ...other, foreignReservations: reversed(given.foreignReservations) });
        expect([turned.placements, turned.reservations]).toEqual([result.placements, result.reservations]);
        const cache = createCycleCache();
        expect(cycle({ ...other, cache })).toEqual(result);
        expect(cycle({ ...given, cache })).toEqual(result);
      }),
      { numRuns: 200 },
    );
  });

  it("has the same decisions at every level of report, and reasons for exactly the waiting jobs", () => {
    fc.assert(
      fc.property(richInput, (given) => {
        const [none, brief, full] = (["none", "brief", "full"] as const).map((report) => cycle({ ...given, report }));
        for (const other of [none, brief]) {
          expect(other?.placements).toEqual(full?.placements);
          expect(other?.reservations).toEqual(full?.reservations);
        }
        expect(none?.reasons.size).toBe(0);
        const started = new Set(full?.placements.map(({ allocation }) => allocation));
        const waiting = given.pending.filter(({ id }) => !started.has(id)).map(({ id }) => id);
        expect([...(full?.reasons.keys() ?? [])].sort()).toEqual([...waiting].sort());
        expect([...(full?.scores.keys() ?? [])].sort()).toEqual([...waiting].sort());
        expect([...(brief?.reasons ?? [])]).toEqual([...(full?.reasons ?? [])]);
        for (const startsAt of full?.estimates.values() ?? []) expect(startsAt).toBeGreaterThanOrEqual(given.now);
      }),
      { numRuns: 150 },
    );
  });

  it("omits from a brief report the parts of an earlier one, and decides the same", () => {
    fc.assert(
      fc.property(richInput, (given) => {
        const first = cycle(given);
        const again = cycle({ ...given, reported: first.reasons });
        expect(again.reasons.size).toBe(0);
        expect(again.placements).toEqual(first.placements);
        expect(cycle({ ...given, reported: first.reasons, report: "full" }).reasons.size).toBe(first.reasons.size);
      }),
      { numRuns: 60 },
    );
  });

  it("does not change its input", () => {
    const frozen = <T>(value: T): T => {
      if (typeof value === "object" && value !== null && !ArrayBuffer.isView(value)) {
        Object.freeze(value);
        for (const each of Object.values(value)) frozen(each);
      }
      return value;
    };
    fc.assert(
      fc.property(richInput, (given) => {
        expect(cycle(frozen(structuredClone(given)))).toEqual(cycle(given));
      }),
      { numRuns: 60 },
    );
  });
});

describe("every plan that shares nodes", () => {
  const whole = { cpuCores: 8, memoryBytes: 1024, gpuCount: 4 };
  const someShare = fc.record({
    gpus: fc.integer({ min: 1, max: 3 }),
    minutes: fc.integer({ min: 1, max: 90 }),
    tenant: fc.constantFrom("physics", "biology"),
  });

  it("uses no more of a node than it has, and for one tenant only", () => {
    let shared = 0;
    const some = fc.record({
      base: someInput,
      parts: fc.array(someShare, { minLength: 3, maxLength: 12 }),
      left: fc.array(fc.nat(4), { minLength: 9, maxLength: 9 }),
    });
    fc.assert(
      fc.property(some, ({ base, parts, left }) => {
        const nodes = base.nodes.map((each) => ({ ...each, ...whole, gpuType: "" }));
        const sharedNodes = nodes.flatMap((each, i): SharedNodeInput[] => {
          const gpuCount = left[i] ?? 0;
          if (each.free || !each.usable) return [];
          const remaining = { cpuCores: 2 * gpuCount, memoryBytes: 256 * gpuCount, gpuCount };
          return [
            { node: each.id, tenant: (i % 2 === 0 ? "physics" : "biology") as TenantId, capabilities: each, remaining },
          ];
        });
        const pending = parts.map(({ gpus, minutes: length, tenant }, i): PendingInput => {
          const [model] = base.pending;
          if (model === undefined) throw new Error("nothing pending");
          const constraints = {
            ...model.constraints,
            gpuCount: gpus,
            features: [],
            requiredNodes: [],
            excludedNodes: [],
            topology: "any" as const,
          };
          const walltime = (length * MINUTE) as NonNullable<PendingInput["walltime"]>;
          return {
            ...model,
            id: allocationId(i + 1),
            tenant: tenant as TenantId,
            minNodes: 1,
            maxNodes: 1,
            walltime,
            constraints,
            canShareNode: true,
          };
        });
        const { placements } = cycle({ ...base, nodes, pending, sharedNodes });
        const room = new Map<string, { tenant: string | null; gpus: number }>(
          nodes.filter(({ free }) => free).map(({ id }) => [id, { tenant: null, gpus: 4 }]),
        );
        for (const each of sharedNodes) room.set(each.node, { tenant: each.tenant, gpus: each.remaining.gpuCount });
        for (const { allocation, nodes: taken, shared: isShared } of placements) {
          const { tenant, constraints } = pendingOf({ ...base, pending }, allocation);
          expect([taken.length, isShared]).toEqual([1, true]);
          const own = room.get(taken[0] ?? "");
          if (own === undefined) throw new Error("not a node to share");
          expect(own.tenant ?? tenant).toBe(tenant);
          own.tenant = tenant;
          own.gpus -= constraints.gpuCount;
          expect(own.gpus).toBeGreaterThanOrEqual(0);
          shared += 1;
        }
      }),
      { numRuns: 200 },
    );
    expect(shared).toBeGreaterThan(300);
  });
});
