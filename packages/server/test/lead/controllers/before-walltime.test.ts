// The request to save and stop shortly before the end of the walltime.

import {
  applyEntry,
  attempt,
  type Command,
  createState,
  entryVersion,
  instant,
  logIndex,
  type NodeId,
  type State,
  term,
} from "@lattice/core";
import { describe, expect, it } from "vitest";
import { decideBeforeWalltime, type SeenAttempts } from "../../../src/lead/controllers/checkpoint/before-walltime.ts";
import { node, spec, submitted, vcluster } from "./make.ts";

const START = 1_000_000;
/** 100 s; the estimate allows a quarter of it. */
const WALLTIME = 100_000;
const LEAD = 25_000;

/** One allocation with a checkpoint and a walltime, which runs since START. */
function running(walltime = WALLTIME): { readonly state: State; apply(at: number, ...commands: Command[]): void } {
  const state = createState();
  const apply = (at: number, ...commands: Command[]): void => {
    const index = logIndex(state.index + 1);
    const version = entryVersion(commands);
    applyEntry(state, { index, term: term(1), version, at: instant(START + at), prevHash: "", commands });
  };
  apply(0, vcluster("batch"));
  apply(0, node("n1"), submitted(spec({ walltime })));
  const placement = { allocation: "1" as never, attempt: attempt(1), nodes: ["n1" as NodeId] };
  const placements = [{ ...placement, scores: {}, backfilled: false }];
  apply(0, { kind: "plan.commit", vcluster: "batch" as never, basis: state.index, placements });
  apply(0, report({}));
  return { state, apply };
}

const report = (more: object): Command => ({
  kind: "attempt.report",
  node: "n1" as NodeId,
  allocation: "1" as never,
  attempt: attempt(1),
  state: "running",
  exitCode: null,
  reason: null,
  message: "",
  ...more,
});
const request = (cause: "broker" | "walltime"): Command => ({
  kind: "attempt.checkpoint",
  allocation: "1" as never,
  attempt: attempt(1),
  cause,
  message: "",
});
const said = (ok: boolean, n = 1): Command => report({ checkpoint: { n, ok, bytes: 1, message: "" } });

interface Moment {
  /** Milliseconds after the start. */
  readonly at: number;
  readonly monotonic?: number;
  readonly seen?: SeenAttempts;
  readonly away?: string;
}
const look = (state: State, { at, monotonic = at, seen = new Map(), away = "" }: Moment) =>
  decideBeforeWalltime(state, {
    now: instant(START + at),
    monotonic: instant(monotonic),
    seen,
    rates: { bytesPerSecond: 10e9, gpuMemoryBytes: 80e9 },
    storageError: () => away,
  });
const asks = (state: State, moment: Moment): number => look(state, moment).requests.length;

describe("work with a checkpoint", () => {
  it("is asked to save and stop when the rest of its walltime is the lead, and not after the walltime", () => {
    const { state } = running();
    expect(asks(state, { at: WALLTIME - LEAD - 1 })).toBe(0);
    expect(look(state, { at: WALLTIME - LEAD }).requests).toEqual([
      { ...request("walltime"), message: "its walltime is nearly over" },
    ]);
    expect(asks(state, { at: WALLTIME })).toBe(0);
  });

  it("of 20 s is asked 5 s before the end", () => {
    const { state } = running(20_000);
    expect([asks(state, { at: 14_999 }), asks(state, { at: 15_000 })]).toEqual([0, 1]);
  });

  it("is asked as early as its measured checkpoint needs", () => {
    const { state, apply } = running();
    apply(0, request("broker"));
    apply(15_000, said(true));
    expect([asks(state, { at: 59_999 }), asks(state, { at: 60_000 })]).toEqual([0, 1]);
  });

  it("is asked once, joined to a checkpoint in progress, and not again after a failure", () => {
    const { state, apply } = running();
    apply(70_000, request("broker"));
    expect(asks(state, { at: 80_000 })).toBe(1);
    apply(80_000, request("walltime"));
    expect(asks(state, { at: 81_000 })).toBe(0);
    apply(82_000, said(false));
    expect(state.allocation("1" as never)?.phase.kind).toBe("running");
    expect(asks(state, { at: 83_000 })).toBe(0);
  });

  it("is not asked while its node cannot write", () => {
    const { state } = running();
    expect(asks(state, { at: 80_000, away: "no space left" })).toBe(0);
  });

  it("is not asked because the wall clock jumped", () => {
    const { state } = running();
    const { seen } = look(state, { at: 10_000 });
    expect(asks(state, { at: 80_000, monotonic: 11_000, seen })).toBe(0);
    expect(asks(state, { at: 0, monotonic: 80_000, seen })).toBe(1);
  });
});
