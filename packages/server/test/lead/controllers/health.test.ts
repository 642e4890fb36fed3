// Verdicts about nodes (late, silent, heard) from the time since their heartbeats.

import {
  type Duration,
  duration,
  type Instant,
  instant,
  type Node,
  type NodeId,
  type NodeState,
  type View,
} from "@lattice/core";
import { describe, expect, it } from "vitest";
import { decideHealth } from "../../../src/lead/controllers/health/decide.ts";

const T0 = 1_000_000;
const at = (ms: number): Instant => instant(T0 + ms);
const node = (state: NodeState, claims: readonly unknown[]): Node => ({ id: "n1" as NodeId, state, claims }) as Node;
const viewOf = (only: Node): View => ({ nodes: () => [only] }) as unknown as View;

interface Row {
  readonly title: string;
  readonly state: NodeState;
  readonly heardAt: number | null;
  readonly leadingSince: number;
  readonly now: number;
  readonly verdict: string | null;
  readonly claims?: number;
}

const ready: NodeState = { kind: "ready", since: at(0) };
const degraded: NodeState = { kind: "degraded", since: at(0), cause: "silent" };
const draining: NodeState = { kind: "draining", since: at(0), reason: "" };
const silent: NodeState = { kind: "down", since: at(0), cause: "silent", reason: "", back: "ready" };
const disabled: NodeState = { kind: "down", since: at(0), cause: "disabled", reason: "", back: "ready" };

const rows: readonly Row[] = [
  { title: "a heard node stays", state: ready, heardAt: 0, leadingSince: -99_000, now: 29_999, verdict: null },
  { title: "silence makes it late", state: ready, heardAt: 0, leadingSince: -99_000, now: 30_000, verdict: "late" },
  { title: "late once is enough", state: degraded, heardAt: 0, leadingSince: -99_000, now: 60_000, verdict: null },
  { title: "more silence: down", state: degraded, heardAt: 0, leadingSince: -99_000, now: 90_000, verdict: "silent" },
  { title: "a draining one too", state: draining, heardAt: 0, leadingSince: -99_000, now: 90_000, verdict: "silent" },
  {
    title: "a draining one is not late",
    state: draining,
    heardAt: 0,
    leadingSince: -99_000,
    now: 40_000,
    verdict: null,
  },
  {
    title: "heartbeats heal degraded",
    state: degraded,
    heardAt: 39_000,
    leadingSince: -99_000,
    now: 40_000,
    verdict: "heard",
  },
  {
    title: "heartbeats heal silent",
    state: silent,
    heardAt: 39_000,
    leadingSince: -99_000,
    now: 40_000,
    verdict: "heard",
  },
  {
    title: "nothing heals disabled",
    state: disabled,
    heardAt: 39_000,
    leadingSince: -99_000,
    now: 40_000,
    verdict: null,
  },
  {
    title: "a new leader waits a full timeout",
    state: ready,
    heardAt: null,
    leadingSince: 0,
    now: 29_999,
    verdict: null,
  },
  { title: "and then judges", state: ready, heardAt: null, leadingSince: 0, now: 30_000, verdict: "late" },
  {
    title: "old heartbeats do not count against it",
    state: ready,
    heardAt: -500_000,
    leadingSince: 0,
    now: 20_000,
    verdict: null,
  },
  {
    title: "a disabled node that owes an end and falls silent is judged",
    state: disabled,
    heardAt: 0,
    leadingSince: -99_000,
    now: 90_000,
    claims: 1,
    verdict: "silent",
  },
];

describe("node health", () => {
  it.each(rows)("$title", ({ state, heardAt, leadingSince, now, verdict, claims }) => {
    const decided = decideHealth(viewOf(node(state, Array.from({ length: claims ?? 0 }))), {
      now: at(now),
      leadingSince: at(leadingSince),
      lastHeard: () => (heardAt === null ? null : at(heardAt)),
      timeout: duration(30_000) as Duration,
      grace: duration(60_000),
    });
    expect(decided.map((one) => one.verdict)).toEqual(verdict === null ? [] : [verdict]);
  });
});
