// The parts of a real state in a snapshot: requests with checkpoints, shared nodes, stale fingerprints, policies, and
// lists that a recorded cycle keeps.

import { instant, type NodeId, type VCluster } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CycleInput, createCycleCache, snapshotFor } from "../../src/index.ts";
import { AT, clusterOf, named, plan, policyNamed, submit } from "./cluster.ts";
import { createHistory, someStep, VCLUSTER } from "./history.ts";

const one = (change: Partial<VCluster> = {}, nodes: readonly string[] = ["a", "b"]) =>
  clusterOf([{ id: named("v"), ...change }], nodes);
const taken = (state: ReturnType<typeof one>, external = {}): CycleInput =>
  snapshotFor(state, policyNamed(state, "v"), AT, undefined, external);

describe("a snapshot", () => {
  it.each<{ scheduler: VCluster["scheduler"]; expected: Partial<CycleInput> }>([
    { scheduler: "ml_training", expected: { isFifo: false } },
    { scheduler: "hpc_backfill", expected: { isFifo: false, waitMeasure: "proportional" } },
    { scheduler: "interactive_fifo", expected: { isFifo: true } },
    { scheduler: "service_bin_pack", expected: { isFifo: false, packsNodes: true } },
    { scheduler: "sensitive_reservation", expected: { isSensitive: true } },
  ])("of $scheduler has its policy", ({ scheduler, expected }) => {
    expect(taken(one({ scheduler }))).toMatchObject(expected);
    const { packsNodes, waitMeasure, isSensitive } = taken(one({ scheduler }));
    expect({ packsNodes, waitMeasure, isSensitive }).toMatchObject({
      packsNodes: expected.packsNodes,
      waitMeasure: expected.waitMeasure,
      isSensitive: expected.isSensitive,
    });
  });

  it("has no fingerprint for nodes whose fingerprint is stale", () => {
    const state = clusterOf([{ id: named("v") }], ["a", "b"]);
    const { nodes } = taken(state, { isStale: (node: NodeId) => node === "b" });
    expect(nodes.map(({ conformance }) => conformance)).toEqual(["x", ""]);
  });

  it("passes on the leader's measurements, and nothing else", () => {
    const signals = { energyPrice: 0.5 };
    const previousReservations = [{ allocation: "1" as never, startsAt: AT, nodes: [] }];
    const external = { signals, previousReservations, foreignReservations: [], report: "full" as const };
    expect(taken(one(), external)).toMatchObject(external);
    const plain = taken(one());
    for (const field of [...Object.keys(external), "pool", "sharedNodes", "victims", "awaiting", "cache", "prepared"])
      expect(plain).not.toHaveProperty(field);
  });

  it("has the storage bandwidth that running work requested", () => {
    const state = one();
    submit(state, "v", { constraints: { storageMBps: 300 } });
    plan(state, "v");
    expect(taken(state).releases).toMatchObject([{ allocation: "1", storageMBps: 300 }]);
  });
});

describe("shared nodes", () => {
  it("have the capacity that no claim holds, and the tenant that uses them", () => {
    const state = one({ sharesNodes: true });
    submit(state, "v", { constraints: { gpuCount: 1 } });
    const { placements } = plan(state, "v");
    expect(placements).toMatchObject([{ allocation: "1", shared: true }]);
    const { sharedNodes } = taken(state);
    expect(sharedNodes).toMatchObject([
      { node: placements[0]?.nodes[0], tenant: "physics", remaining: { gpuCount: 3 } },
    ]);
    submit(state, "v", { constraints: { gpuCount: 2 } });
    expect(plan(state, "v").placements).toMatchObject([{ allocation: "2", nodes: placements[0]?.nodes, shared: true }]);
    expect(taken(state).sharedNodes).toMatchObject([{ remaining: { gpuCount: 1 } }]);
  });

  it("are none where the vCluster shares none, or the node is not reachable", () => {
    const state = one({ sharesNodes: true });
    submit(state, "v", { constraints: { gpuCount: 1 } });
    plan(state, "v");
    expect(snapshotFor(state, policyNamed(state, "v"), AT, () => false).sharedNodes).toEqual([]);
    expect(taken(one()).sharedNodes).toBeUndefined();
  });
});

describe("the lists of a recorded snapshot", () => {
  it("never change, whatever happens afterwards", () => {
    let compared = 0;
    fc.assert(
      fc.property(fc.array(someStep, { minLength: 5, maxLength: 25 }), (steps) => {
        const history = createHistory(8, 2);
        const cache = createCycleCache();
        const kept: { readonly input: CycleInput; readonly copy: string }[] = [];
        const textOf = ({ nodes, pending, releases, tenants }: CycleInput): string =>
          JSON.stringify({ nodes, pending, releases, tenants });
        for (const step of steps) {
          history.step(step);
          const vcluster = history.state.vcluster(VCLUSTER);
          if (vcluster === undefined) throw new Error("no vCluster");
          const isRecorded = step.kind % 2 === 0;
          const external = { cache, report: isRecorded ? ("full" as const) : ("none" as const) };
          const input = snapshotFor(history.state, vcluster, instant(history.now()), undefined, external);
          if (isRecorded) kept.push({ input, copy: textOf(input) });
          for (const earlier of kept) expect(textOf(earlier.input)).toBe(earlier.copy);
          compared += kept.length;
        }
      }),
      { numRuns: 30 },
    );
    expect(compared).toBeGreaterThan(200);
  });
});
