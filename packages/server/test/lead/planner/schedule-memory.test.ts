// The memory of the planner: reservations, and the last full report.

import {
  type AllocationId,
  instant,
  logIndex,
  type NodeId,
  type VCluster,
  type VClusterId,
  type View,
} from "@lattice/core";
import type { CycleResult } from "@lattice/scheduler";
import { describe, expect, it } from "vitest";
import { createScheduleMemory } from "../../../src/lead/planner/memory.ts";

const id = (n: number): AllocationId => String(n) as AllocationId;
const NOW = instant(1_000_000);
const batch = { id: "batch" as VClusterId, scheduler: "hpc_backfill" } as VCluster;
const other = { id: "other" as VClusterId, scheduler: "hpc_backfill" } as VCluster;
const PENDING = { phase: { kind: "pending" }, spec: { tenant: "physics" } };

/** A view with these pending allocations and nothing else. */
const viewOf = (...pending: number[]): View =>
  ({
    allocation: (asked: AllocationId) => (pending.map(id).includes(asked) ? PENDING : undefined),
    pendingCount: () => pending.length,
    vcluster: () => batch,
  }) as unknown as View;

const resultOf = (vcluster: VCluster, fields: Partial<CycleResult> = {}): CycleResult => ({
  vcluster: vcluster.id,
  basis: logIndex(1),
  placements: [],
  reservations: [],
  preemptions: [],
  reasons: new Map(),
  estimates: new Map(),
  scores: new Map(),
  considered: 0,
  ...fields,
});

const reservation = (n: number, startsAt: number) => ({
  allocation: id(n),
  startsAt: instant(startsAt),
  endsAt: instant(startsAt + 1000),
  nodes: ["n1" as NodeId],
});

describe("memory of the planner", () => {
  it("gives a vCluster its own reservations, and the others those whose owners still wait", () => {
    const memory = createScheduleMemory(() => viewOf(1, 2));
    const reservations = [reservation(1, NOW + 5000), reservation(2, NOW - 1), reservation(3, NOW + 5000)];
    memory.recordResult(resultOf(batch, { reservations }), NOW, 1);
    expect(memory.externalInputs(batch, NOW)).toMatchObject({
      previousReservations: reservations,
      foreignReservations: [],
    });
    // 2 is due in its own cycle, and 3 no longer waits.
    expect(memory.externalInputs(other, NOW)).toMatchObject({
      previousReservations: [],
      foreignReservations: [
        { startsAt: NOW + 5000, endsAt: NOW + 6000, nodes: ["n1"], tenant: "physics", sensitive: false },
      ],
    });
  });

  it("continues with the reservations of an earlier planner until its own first cycle", () => {
    const memory = createScheduleMemory(() => viewOf(1));
    const reservations = [reservation(1, NOW + 5000)];
    memory.carryOver(batch.id, reservations);
    expect(memory.externalInputs(batch, NOW)).toMatchObject({ previousReservations: reservations, report: "full" });
    expect(memory.externalInputs(other, NOW).foreignReservations).toMatchObject([{ startsAt: NOW + 5000 }]);
    memory.recordResult(resultOf(batch), NOW, 1);
    expect(memory.externalInputs(batch, NOW).previousReservations).toEqual([]);
    expect(memory.externalInputs(other, NOW).foreignReservations).toEqual([]);
  });

  it("requests a full report first, then after an interval that grows with its cost", () => {
    const memory = createScheduleMemory(() => viewOf(1));
    expect(memory.externalInputs(batch, NOW).report).toBe("full");
    memory.recordResult(resultOf(batch), NOW, 300);
    expect(memory.externalInputs(batch, instant(NOW + 5_999)).report).toBe("brief");
    expect(memory.reportDueAt(batch)).toBe(NOW + 6_000);
    expect(memory.externalInputs(batch, instant(NOW + 6_000)).report).toBe("full");
    expect(createScheduleMemory(() => viewOf()).reportDueAt(batch)).toBeNull();
  });

  it("extends the last full report by a brief one, without placed allocations", () => {
    const memory = createScheduleMemory(() => viewOf(1, 2, 3));
    const reason = (text: string) => [{ code: "busy" as const, text }];
    const reasons = new Map([1, 2, 3].map((n) => [id(n), reason("old")] as const));
    const estimates = new Map([[id(3), instant(NOW + 7)]]);
    memory.recordResult(resultOf(batch, { reasons, estimates }), NOW, 1);
    const placement = { allocation: id(2), attempt: 1, nodes: [], scores: {}, backfilled: false };
    const brief = resultOf(batch, {
      reasons: new Map([[id(1), reason("new")]]),
      placements: [placement as unknown as CycleResult["placements"][number]],
    });
    const { extended: told, isFull } = memory.recordResult(brief, instant(NOW + 10), 1);
    expect(isFull).toBe(false);
    expect([...told.reasons].map(([n, [first]]) => [n, first?.text])).toEqual([
      ["1", "new"],
      ["3", "old"],
    ]);
    expect([...told.estimates.keys()]).toEqual(["3"]);
  });
});
