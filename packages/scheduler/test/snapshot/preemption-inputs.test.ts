// The inputs of preemption from a real state: when a vCluster may preempt, and which running work no rule protects.

import { duration, instant, type VCluster } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { cycle, hasNothingToDo, mayPreempt, snapshotFor, type VictimInput } from "../../src/index.ts";
import { AT, apply, clusterOf, named, plan, policyNamed, type SubmitFields, submit } from "./cluster.ts";

const nodes = ["a", "b", "c", "d"];

/** Runs the first on all nodes, lets the second wait; the state. */
function contest(
  running: SubmitFields,
  waiting: SubmitFields,
  owner: Partial<VCluster> = {},
  winner: Partial<VCluster> = {},
) {
  const state = clusterOf(
    [
      { id: named("low"), ...owner },
      { id: named("high"), ...winner },
    ],
    nodes,
  );
  submit(state, "low", { nodes: 4, ...running });
  const { placements } = plan(state, "low");
  if (placements.length !== 1) throw new Error("the first did not start");
  submit(state, "high", { nodes: 4, ...waiting });
  return state;
}

const victimsIn = (state: ReturnType<typeof contest>, at: number = AT): readonly VictimInput[] | undefined =>
  snapshotFor(state, policyNamed(state, "high"), instant(at)).victims;

describe("a vCluster may preempt", () => {
  it.each<{ name: string; running?: number; waiting: number; winner?: Partial<VCluster>; expected: boolean }>([
    { name: "with a higher class waiting", running: 3, waiting: 4, expected: true },
    { name: "not with an equal class", running: 3, waiting: 3, expected: false },
    { name: "not with a lower class", running: 3, waiting: 2, expected: false },
    {
      name: "not where its policy does not allow it",
      running: 3,
      waiting: 9,
      winner: { preempts: false },
      expected: false,
    },
    {
      name: "for sensitive claims, whatever their class",
      running: 9,
      waiting: 0,
      winner: { scheduler: "sensitive_reservation" },
      expected: true,
    },
  ])("$name", ({ running = 3, waiting, winner = {}, expected }) => {
    const state = contest({ class: running }, { class: waiting }, {}, winner);
    const policy = policyNamed(state, "high");
    expect(mayPreempt(state, policy)).toBe(expected);
    expect(hasNothingToDo(state, policy)).toBe(!expected);
    expect(victimsIn(state)?.length).toBe(expected ? 1 : undefined);
  });

  it("not while nothing runs", () => {
    const state = clusterOf([{ id: named("high") }], nodes);
    submit(state, "high", { class: 9 });
    expect(mayPreempt(state, policyNamed(state, "high"))).toBe(false);
  });
});

describe("running work", () => {
  it.each<{ name: string; running: SubmitFields; owner?: Partial<VCluster>; isVictim: boolean }>([
    { name: "of a lower class may be stopped", running: {}, isVictim: true },
    { name: "of the highest class never is", running: { class: 10 }, isVictim: false },
    { name: "that asked not to be stopped never is", running: { lifecycle: { noPreempt: true } }, isVictim: false },
    {
      name: "of a sensitive vCluster never is",
      running: {},
      owner: { scheduler: "sensitive_reservation" },
      isVictim: false,
    },
    {
      name: "of a vCluster that shields its work never is",
      running: {},
      owner: { preemptible: "never" },
      isVictim: false,
    },
    { name: "on common nodes is not borrowed", running: {}, owner: { preemptible: "borrowed" }, isVictim: false },
  ])("$name, not even for a sensitive claim", ({ running, owner = {}, isVictim }) => {
    const ordinary = contest(running, { class: 10 }, owner);
    const sensitive = contest(running, { class: 0 }, owner, { scheduler: "sensitive_reservation" });
    expect(victimsIn(ordinary) ?? []).toHaveLength(isVictim ? 1 : 0);
    expect(victimsIn(sensitive) ?? []).toHaveLength(isVictim ? 1 : 0);
    // No plan stops protected work.
    for (const state of [ordinary, sensitive]) {
      const { preemptions } = cycle(snapshotFor(state, policyNamed(state, "high"), AT));
      if (!isVictim) expect(preemptions).toEqual([]);
    }
  });

  it("is described by its record", () => {
    const state = contest({ class: 2, minutes: 90 }, { class: 8 }, { nearCompletion: duration(7_000) });
    expect(victimsIn(state)).toEqual([
      {
        allocation: "1",
        attempt: 1,
        tenant: "physics",
        preemptionClass: 2,
        nodes,
        startedAt: null,
        walltime: 90 * 60_000,
        requeues: true,
        gpusPerNode: 4,
        nearCompletion: 7_000,
        borrows: false,
        preempted: 0,
      },
    ]);
  });

  it("has started when its nodes report so, and is lost for good where it is never requeued", () => {
    const state = contest({ lifecycle: { requeuePolicy: "never" } }, { class: 8 });
    const reports = nodes.map((node) => ({
      kind: "attempt.report" as const,
      node: node as never,
      allocation: "1" as never,
      attempt: 1 as never,
      state: "running" as const,
      exitCode: null,
      reason: null,
      message: "",
    }));
    for (const report of reports) apply(state, report, AT + 5_000);
    const [victim] = victimsIn(state, AT + 9_000) ?? [];
    expect(victim).toMatchObject({ startedAt: AT + 5_000, requeues: false });
  });

  it("comes with the limit of victims of the vCluster that plans", () => {
    const state = contest({}, { class: 8 }, {}, { maxVictims: 7 });
    expect(snapshotFor(state, policyNamed(state, "high"), AT).maxVictims).toBe(7);
    expect(snapshotFor(state, policyNamed(state, "low"), AT).maxVictims).toBeUndefined();
  });
});

describe("nodes freed by preemption", () => {
  /** The first is stopped for the second, and its nodes are being released. */
  function preempted() {
    const state = contest({}, { class: 8 });
    const { preemptions, basis } = cycle(snapshotFor(state, policyNamed(state, "high"), AT));
    for (const { allocation, victims, nodes: freed } of preemptions) {
      const listed = victims.map((victim) => ({ allocation: victim.allocation, attempt: victim.attempt }));
      apply(state, { kind: "allocation.preempt", allocation, basis, victims: listed, nodes: freed });
    }
    return state;
  }
  const awaitingIn = (state: ReturnType<typeof preempted>, vcluster: string, at: number = AT) =>
    snapshotFor(state, policyNamed(state, vcluster), instant(at)).awaiting;

  it("are awaited by the preemptor, also in the snapshots of other vClusters", () => {
    const state = preempted();
    expect(awaitingIn(state, "high")).toEqual([{ allocation: "2", own: true, nodes }]);
    expect(awaitingIn(state, "low")).toEqual([{ allocation: "2", own: false, nodes }]);
  });

  it.each([
    { after: 300_000, isAwaited: true },
    { after: 300_001, isAwaited: false },
  ])("are awaited after $after ms: $isAwaited", ({ after, isAwaited }) => {
    expect(awaitingIn(preempted(), "high", AT + after) !== undefined).toBe(isAwaited);
  });

  it("are no longer awaited when one of them is drained", () => {
    const state = preempted();
    const origin = { user: "ada" as never, requestId: null, bodyHash: "" };
    apply(state, { kind: "node.drain", origin, node: "b" as never, reason: "" });
    expect(awaitingIn(state, "high")).toBeUndefined();
  });

  it("go to the preemptor once they are released, and not to the victim", () => {
    const state = preempted();
    for (const node of nodes) {
      apply(state, {
        kind: "attempt.report",
        node: node as never,
        allocation: "1" as never,
        attempt: 1 as never,
        state: "failed",
        exitCode: null,
        reason: "stopped",
        message: "",
      });
    }
    expect(plan(state, "low").placements).toEqual([]);
    expect(plan(state, "high").placements.map(({ allocation }) => allocation)).toEqual(["2"]);
  });
});
