// Which nodes are quarantined, probed, or drained after drift.

import { duration, instant, type View } from "@lattice/core";
import { expect, test } from "vitest";
import { decideFaults } from "../../../src/lead/controllers/faults/decide.ts";

const fault = (n: number, own = true) => ({ allocation: String(n), user: `u${n}`, own });
const ready = { kind: "ready", since: 0 };
const FAULTS = {
  failuresToQuarantine: 3,
  quickFailure: duration(10_000),
  prologueRetries: 3,
  quarantineMaxPercent: 30,
  probation: duration(600_000),
  driftRemediationTimeout: duration(50_000),
  sensitiveDriftRemediationTimeout: duration(10_000),
};
const decide = (node: object, change: Partial<typeof FAULTS> = {}) => {
  const view = {
    nodes: () => [{ id: "n1", state: ready, claims: [], homeVCluster: null, ...node }],
    vcluster: (id: string) => ({ id, scheduler: id === "clinic" ? "sensitive_reservation" : "hpc_backfill" }),
  } as unknown as View;
  return decideFaults(view, { now: instant(100_000), faults: { ...FAULTS, ...change } });
};

test("a node is quarantined after three quick failures or failures of three users", () => {
  expect(decide({ faults: [fault(1), fault(2)] })).toEqual([]);
  expect(decide({ faults: [fault(1), fault(1), fault(1)] })).toEqual([]);
  expect(decide({ faults: [fault(1), fault(2), fault(3)] })).toMatchObject([
    { kind: "node.quarantine", until: 700_000 },
  ]);
  expect(decide({ faults: [fault(1, false), fault(2, false), fault(3, false)] })).toHaveLength(1);
  expect(decide({ faults: [fault(1), fault(2), fault(3)], claims: [{}] })).toEqual([]);
});

test("the limit of a quick failure is a setting, and a longer run clears the node", () => {
  const after = (n: number, ms: number) => ({ ...fault(n, false), after: ms });
  expect(decide({ faults: [after(1, 9_999), after(2, 0), after(3, 5_000)] })).toHaveLength(1);
  expect(decide({ faults: [after(1, 9_999), after(2, 0), after(3, 10_000)] })).toEqual([]);
  expect(decide({ faults: [after(1, 1), after(4, 60_000), after(2, 1), after(3, 1)] })).toEqual([]);
  expect(
    decide({ faults: [after(1, 1), after(2, 60_000), after(3, 1)] }, { quickFailure: duration(60_001) }),
  ).toHaveLength(1);
});

test("a quarantined node is probed after its time, and a drifted node is quarantined after its grace", () => {
  const down = { kind: "down", cause: "quarantined", since: 0, reason: "", back: "ready" };
  expect(decide({ state: { ...down, until: 99_999 } })).toEqual([{ kind: "node.probe", node: "n1", keep: 2 }]);
  expect(decide({ state: { ...down, until: 100_001 } })).toEqual([]);
  expect(decide({ state: down })).toEqual([]);
  expect(decide({ drift: { expected: "a", since: 60_000 } })).toEqual([]);
  expect(decide({ drift: { expected: "a", since: 50_000 } })).toMatchObject([{ kind: "node.quarantine", until: null }]);
});

test("a drifted node with work is drained first, and sensitive nodes have a shorter grace", () => {
  const drift = { expected: "a", since: 60_000 };
  expect(decide({ drift: { ...drift, since: 0 }, claims: [{}] })).toHaveLength(1);
  expect(decide({ drift: { ...drift, since: 0 }, state: { kind: "draining" } })).toEqual([]);
  expect(decide({ drift, homeVCluster: "batch" })).toEqual([]);
  expect(decide({ drift, homeVCluster: "clinic", state: { kind: "drained" } })).toHaveLength(1);
});
