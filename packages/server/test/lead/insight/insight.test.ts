// The leader's memory for answers: errors of estimates, reservations and their moves, valid signals. A follower forwards
// questions over a real connection.

import {
  type AllocationId,
  createState,
  type Event,
  instant,
  type NodeId,
  type VClusterId,
  type View,
} from "@lattice/core";
import type { CycleResult } from "@lattice/scheduler";
import { describe, expect, test } from "vitest";
import { createMeasuredInputs } from "../../../src/lead/insight/index.ts";
import { createReservationLog, MOMENTS_PER_ALLOCATION } from "../../../src/lead/insight/reservation-log.ts";
import { createSignalStore, withStorage } from "../../../src/lead/insight/signals.ts";
import { createEstimateRecord } from "../../../src/lead/planner/estimate-record.ts";
import { queuePage } from "../../../src/lead/planner/queue.ts";

const id = (n: number): AllocationId => String(n) as AllocationId;
const batch = "batch" as VClusterId;
const allPending = { allocation: () => ({ phase: { kind: "pending" } }) } as unknown as View;

const moved = (n: number, at: number, to = "staging") => ({
  cursor: { index: 1 as never, n: 0 },
  at: instant(at),
  event: { kind: "allocation_changed", allocation: id(n), vcluster: batch, from: "pending", to } as Event,
});

describe("errors of estimates", () => {
  test("the first and the last estimate are compared with the placement; an end without one is not counted", () => {
    const seen: string[] = [];
    const record = createEstimateRecord((vcluster, which, seconds) => seen.push(`${vcluster} ${which} ${seconds}`));
    record.recordEstimates(
      {
        estimates: new Map([
          [id(1), instant(10_000)],
          [id(2), instant(20_000)],
        ]),
      },
      allPending,
    );
    record.recordEstimates({ estimates: new Map([[id(1), instant(12_000)]]) }, allPending);
    record.onEvents([moved(1, 13_000), moved(2, 15_000, "cancelled"), moved(3, 15_000)]);
    expect(seen).toEqual(["batch first 3", "batch last 1"]);
    expect(record.typicalErrorMs(batch)).toBe(3_000);
    expect(record.typicalErrorMs("other" as VClusterId)).toBeNull();
    record.onEvents([moved(1, 99_000)]);
    expect(seen).toHaveLength(2);
  });
});

describe("reservations", () => {
  test("are recorded when made and moved, within a limit that keeps the first", () => {
    const log = createReservationLog();
    const reserved = (startsAt: number, node: string) => ({
      reservations: [{ allocation: id(1), startsAt: instant(startsAt), nodes: [node as NodeId] }],
    });
    log.recordReservations(reserved(50_000, "n1"), instant(1));
    log.recordReservations(reserved(50_100, "n1"), instant(2));
    log.recordReservations(reserved(50_000, "n2"), instant(3));
    expect(log.of(id(1)).map(({ at, kind }) => [at, kind])).toEqual([
      [1, "reserved"],
      [3, "reservation_moved"],
    ]);
    for (let n = 0; n < 40; n += 1) log.recordReservations(reserved(60_000 + n * 5_000, "n1"), instant(10 + n));
    expect(log.of(id(1))).toHaveLength(MOMENTS_PER_ALLOCATION);
    expect(log.of(id(1))[0]?.kind).toBe("reserved");
    expect(log.of(id(2))).toEqual([]);
  });
});

const NONE = { congestion: {}, efficiency: {}, dataReady: {}, checkpointMinutes: {} };

test("signals are valid for the requested time", () => {
  const store = createSignalStore();
  expect(store.forCycle(instant(0))).toBeUndefined();
  store.set({ ...NONE, energyPrice: 0.5, congestion: { g1: 0.25 } }, instant(100));
  expect(store.forCycle(instant(99))).toEqual({ energyPrice: 0.5, congestion: new Map([["g1", 0.25]]) });
  expect(store.get(instant(99))?.validUntil).toBe(100);
  expect(store.forCycle(instant(100))).toBeUndefined();
  expect(store.get(instant(50))).toBeNull();
});

const parts = {
  view: () => createState(),
  fingerprintAt: (node: NodeId) => (node === "old" ? instant(0) : instant(9_000)),
  fingerprintWindow: null,
  storageMBps: null,
  checkpoints: { signals: () => ({}) },
};

test("the configured storage limit applies without a storage signal", () => {
  expect(withStorage(undefined, null)).toBeUndefined();
  expect(withStorage({ energyPrice: 0.5 }, 900)).toEqual({ energyPrice: 0.5, storage: { limit: 900, used: null } });
  const measured = { storage: { limit: 100, used: 40 } };
  expect(withStorage(measured, 900)).toBe(measured);
  const { signals } = createMeasuredInputs({ ...parts, storageMBps: 900 }).facts(instant(0));
  expect(signals).toEqual({ storage: { limit: 900, used: null } });
});

test("signals take precedence over the broker, and equal inputs give the same map", () => {
  const broker = new Map([
    [id(1), 4],
    [id(2), 6],
  ]);
  const measured = createMeasuredInputs({ ...parts, checkpoints: { signals: () => ({ checkpointMinutes: broker }) } });
  expect(measured.facts(instant(0)).signals?.checkpointMinutes).toBe(broker);
  measured.setSignals({ ...NONE, checkpointMinutes: { 1: 9 } }, instant(100));
  const { signals } = measured.facts(instant(0));
  expect([...(signals?.checkpointMinutes ?? [])]).toEqual([
    ["1", 9],
    ["2", 6],
  ]);
  expect(measured.facts(instant(1)).signals?.checkpointMinutes).toBe(signals?.checkpointMinutes);
});

test("an old fingerprint is stale, and no node is listed while none is", () => {
  const nodes = ["old", "new"].map((id) => ({ id, state: { kind: "ready" } }));
  const view = () => ({ at: 0, nodes: () => nodes }) as unknown as View;
  const of = (fingerprintWindow: number | null) =>
    createMeasuredInputs({ ...parts, view, fingerprintWindow: fingerprintWindow as never });
  expect([...(of(5_000).facts(instant(10_000)).stale ?? [])]).toEqual(["old"]);
  expect(of(10_000).facts(instant(10_000)).stale).toBeNull();
  expect(of(null).facts(instant(10_000)).stale).toBeNull();
  const later = of(10_000);
  expect(later.facts(instant(9_500)).stale).toBeNull();
  expect(later.facts(instant(10_001)).stale?.has("old" as NodeId)).toBe(true);
});

test("a drained node is ignored, and checked soon after its drain ends", () => {
  const node = { id: "old", state: { kind: "down" } };
  const view = () => ({ at: 0, nodes: () => [node] }) as unknown as View;
  const measured = createMeasuredInputs({ ...parts, view, fingerprintWindow: 5_000 as never });
  expect(measured.facts(instant(10_000)).stale).toBeNull();
  node.state.kind = "ready";
  expect(measured.facts(instant(80_000)).stale?.has("old" as NodeId)).toBe(true);
});

test("a FIFO queue is shown in its order, whatever its scores", () => {
  const pending = [
    { id: "9", submittedAt: 10 },
    { id: "10", submittedAt: 10 },
    { id: "11", submittedAt: 5 },
  ];
  const scores = new Map([
    ["9", { total: 100 }],
    ["10", { total: 900 }],
  ]);
  const look = (scheduler: string) => {
    const view = { vcluster: () => ({ scheduler }), pending: () => pending, pendingCount: () => 3 } as unknown as View;
    const result = { scores, reservations: [], estimates: new Map(), reasons: new Map() } as unknown as CycleResult;
    const cycles = new Map([["q" as VClusterId, result]]);
    const asked = { kind: "queue", vcluster: "q" as VClusterId, from: 0, limit: 10 } as const;
    return queuePage(view, cycles, new Map(), asked)?.waiting.map(({ id }) => id);
  };
  expect(look("interactive_fifo")).toEqual(["11", "9", "10"]);
  expect(look("hpc_backfill")).toEqual(["10", "9", "11"]);
});
