// The walltime backstop and the repetition of unanswered orders, by table.

import type { Event } from "@lattice/core";
import {
  type Allocation,
  type AllocationId,
  attempt,
  type Claim,
  duration,
  instant,
  type Node,
  type NodeId,
  type View,
} from "@lattice/core";
import { describe, expect, it } from "vitest";
import { decideOverdue } from "../../../src/lead/controllers/orders/decide.ts";
import { wakeupOf } from "../../../src/lead/controllers/schedule/wakeups.ts";
import { decideRecalls } from "../../../src/lead/controllers/turns/decide.ts";
import { decideExpired } from "../../../src/lead/controllers/walltime/decide.ts";

const running = (startedAt: number, walltime: number | null, state = "running"): Allocation =>
  ({
    id: "7" as AllocationId,
    attempt: attempt(1),
    spec: { lifecycle: { walltime } },
    phase: {
      kind: "running",
      startedAt,
      nodes: ["n1"],
      progress: [{ state, exitCode: null, message: "" }],
    },
  }) as unknown as Allocation;

const claim = (since: number, releasing: boolean): Claim =>
  ({ allocation: "7", attempt: 1, since, releasing }) as unknown as Claim;

const view = (allocation: Allocation, claims: readonly Claim[]): View =>
  ({
    placed: () => [allocation],
    allocation: () => allocation,
    nodes: () => [{ id: "n1" as NodeId, claims } as unknown as Node],
  }) as unknown as View;

describe("walltime backstop", () => {
  const margin = duration(100_000);
  const seenAt = (at: number) => new Map([["7.1", instant(at)]]);
  it.each([
    { now: 159_999, walltime: 60_000, expired: 0 },
    { now: 160_000, walltime: 60_000, expired: 1 },
    { now: 9_000_000, walltime: null, expired: 0 },
  ])("at $now with walltime $walltime: $expired", ({ now, walltime, expired }) => {
    const verdict = decideExpired(view(running(0, walltime), []), { now: instant(now), seen: seenAt(0), margin });
    expect(verdict.expired).toHaveLength(expired);
  });

  it("counts from when this leader first saw the attempt, not from its start in the log", () => {
    const seen = view(running(-3_600_000, 60_000), []);
    const first = decideExpired(seen, { now: instant(5_000), seen: new Map(), margin });
    expect(first).toEqual({ expired: [], seen: seenAt(5_000) });
    expect(decideExpired(seen, { now: instant(164_999), seen: first.seen, margin }).expired).toEqual([]);
    expect(decideExpired(seen, { now: instant(165_000), seen: first.seen, margin }).expired).toHaveLength(1);
  });

  it("forgets attempts that are over", () => {
    const empty = { placed: () => [] } as unknown as View;
    expect(decideExpired(empty, { now: instant(9), seen: seenAt(0), margin })).toEqual({
      expired: [],
      seen: new Map(),
    });
  });
});

describe("repeated orders", () => {
  it.each([
    { title: "a fresh order is left alone", state: "ordered", releasing: false, now: 14_000, overdue: 0 },
    { title: "an unanswered run order", state: "ordered", releasing: false, now: 15_000, overdue: 1 },
    { title: "an answered one", state: "running", releasing: false, now: 99_000, overdue: 0 },
    { title: "a stop order without an end", state: "running", releasing: true, now: 15_000, overdue: 1 },
  ])("$title", ({ state, releasing, now, overdue }) => {
    const seen = view(running(0, null, state), [claim(0, releasing)]);
    const first = decideOverdue(seen, { now: instant(0), seen: new Map(), patience: duration(15_000) });
    expect(first.overdue).toEqual([]);
    const then = decideOverdue(seen, { now: instant(now), seen: first.seen, patience: duration(15_000) });
    expect(then.overdue).toHaveLength(overdue);
  });

  it("counts from when this leader first saw the order, not from the claim, and again for the stop", () => {
    const ordered = view(running(0, null, "ordered"), [claim(3_600_000, false)]);
    const stopping = view(running(0, null, "ordered"), [claim(3_600_000, true)]);
    const patience = duration(15_000);
    const first = decideOverdue(ordered, { now: instant(5), seen: new Map(), patience });
    expect(decideOverdue(ordered, { now: instant(15_005), seen: first.seen, patience }).overdue).toHaveLength(1);
    const stop = decideOverdue(stopping, { now: instant(15_005), seen: first.seen, patience });
    expect([stop.overdue.length, stop.seen.size]).toEqual([0, 1]);
  });
});

describe("wakeups of the scheduler", () => {
  it("a submission wakes its own queue, a freed node all of them, a start none", () => {
    const vcluster = "hpc-batch" as never;
    const wakeup = (event: Pick<Event, "kind"> & Partial<Event>) => wakeupOf(event as Event);
    expect(wakeup({ kind: "allocation_changed", to: "pending", vcluster })).toEqual({ kind: "one", vcluster });
    expect(wakeup({ kind: "claim_released" })).toEqual({ kind: "all" });
    expect(wakeup({ kind: "node_changed", to: "ready" })).toEqual({ kind: "all" });
    expect(wakeup({ kind: "node_changed", to: "drained" })).toBeNull();
    expect(wakeup({ kind: "allocation_changed", to: "running" })).toBeNull();
  });
});

describe("recalls from behind others", () => {
  const line = (kind: string, ...more: readonly Partial<Claim>[]): View => {
    const claims = [{}, { behind: true }, ...more].map((change, at) => ({
      allocation: `7_${at}`,
      attempt: 1,
      ...change,
    }));
    return { nodes: () => [{ id: "n1", state: { kind }, claims }] } as unknown as View;
  };
  const recalled = (view: View, now: number, seen = decideRecalls(view, inputs(0)).seen) =>
    decideRecalls(view, { ...inputs(now), seen }).recalls.map(({ claim: { allocation } }) => allocation);
  const inputs = (now: number) => ({ now: instant(now), seen: new Map(), patience: duration(5_000) });

  it.each<[string, View, number, readonly string[]]>([
    ["none before its patience", line("ready"), 4_999, []],
    ["all that have waited too long, and not the first", line("ready", { behind: true }), 5_000, ["7_1", "7_2"]],
    ["all on a node that is drained", line("draining"), 1, ["7_1"]],
    ["none that is being ended already", line("draining", { behind: true, releasing: true }), 1, ["7_1"]],
    ["none of shares", { nodes: () => [] } as unknown as View, 9_000, []],
  ])("%s", (_what, view, now, expected) => {
    expect(recalled(view, now)).toEqual(expected);
  });
});
