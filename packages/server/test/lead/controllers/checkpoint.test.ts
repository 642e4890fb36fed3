// The broker: which allocations take a checkpoint, in which order, and when none does.

import {
  type Allocation,
  applyEntry,
  attempt,
  type Command,
  createState,
  duration,
  entryVersion,
  instant,
  logIndex,
  type NodeId,
  type ReportCommand,
  type State,
  term,
} from "@lattice/core";
import { describe, expect, it } from "vitest";
import { type BrokerInputs, decideCheckpoints } from "../../../src/lead/controllers/checkpoint/decide.ts";
import { decideOverdueCheckpoints } from "../../../src/lead/controllers/checkpoint/overdue.ts";
import { decideStorageNotice } from "../../../src/lead/controllers/checkpoint/storage.ts";
import { node, spec, submitted, vcluster } from "./make.ts";

const HOUR = 3_600_000;
const START = 1_000_000;

const INPUTS: BrokerInputs = {
  now: instant(START),
  rates: { nodeMtbfSeconds: 6_000 * 3_600, storageSecondsPerGb: 0.02, quietSeconds: 6 * 3_600 },
  bytesPerSecond: 10e9,
  gpuMemoryBytes: 80e9,
  windowSeconds: 45,
  storageError: () => "",
};

interface Job {
  readonly class?: number;
  readonly auto?: boolean;
  readonly walltime?: number;
}

/** One allocation on each node, all running since the beginning. */
function running(jobs: readonly Job[]): { readonly state: State; apply(...commands: Command[]): void } {
  const state = createState();
  const apply = (...commands: Command[]): void => {
    applyEntry(state, {
      index: logIndex(state.index + 1),
      term: term(1),
      version: entryVersion(commands),
      at: instant(START),
      prevHash: "",
      commands,
    });
  };
  apply(vcluster("batch"));
  jobs.forEach((job, i) => {
    const n = i + 1;
    apply(node(`n${n}`), submitted(spec(job)));
    apply({
      kind: "plan.commit",
      vcluster: "batch" as never,
      basis: state.index,
      placements: [
        {
          allocation: String(n) as never,
          attempt: attempt(1),
          nodes: [`n${n}` as NodeId],
          scores: {},
          backfilled: false,
        },
      ],
    });
    apply(report(n));
  });
  return { state, apply };
}

const report = (n: number, more: Partial<ReportCommand> = {}): ReportCommand => ({
  kind: "attempt.report",
  node: `n${n}` as NodeId,
  allocation: String(n) as never,
  attempt: attempt(1),
  state: "running",
  exitCode: null,
  reason: null,
  message: "",
  ...more,
});

const after = (hours: number, change: Partial<BrokerInputs> = {}): BrokerInputs => ({
  ...INPUTS,
  now: instant(START + hours * HOUR),
  ...change,
});
const asked = (state: State, inputs: BrokerInputs): string[] =>
  decideCheckpoints(state, inputs).requests.map(({ allocation }) => allocation);
const verdicts = (state: State, inputs: BrokerInputs): string[] =>
  [...decideCheckpoints(state, inputs).judgements.values()].map(({ verdict }) => verdict);

describe("the broker", () => {
  it("requests a checkpoint every few hours in a quiet cluster, and no sooner", () => {
    const { state } = running([{}]);
    expect(asked(state, after(1))).toEqual([]);
    expect(asked(state, after(6.1))).toEqual(["1"]);
    expect(decideCheckpoints(state, after(1)).judgements.get("1" as never)).toMatchObject({
      verdict: "wait",
      reason: "it would cost more than it saves",
      devices: 4,
      sizeBytes: 320e9,
      writeTime: 32,
      computeWaste: 128,
    });
  });

  it("requests sooner when work of a higher class waits, or a node is unhealthy", () => {
    const { state, apply } = running([{ class: 1 }]);
    expect(asked(state, after(3))).toEqual([]);
    apply(submitted(spec({ class: 9 })));
    const urgent = decideCheckpoints(state, after(3)).judgements.get("1" as never);
    expect(urgent).toMatchObject({ verdict: "take", reason: "work of a higher class waits for nodes like its own" });
    const sick = running([{}]);
    sick.apply({ kind: "node.health", node: "n1" as NodeId, verdict: "late", reason: "" });
    expect(asked(sick.state, after(2))).toEqual(["1"]);
  });

  it("requests a last checkpoint before the walltime ends, while there is time to write", () => {
    const { state } = running([{ walltime: 3 * HOUR }]);
    expect(asked(state, after(2.5))).toEqual([]);
    expect(asked(state, after(2.95))).toEqual(["1"]);
    expect(asked(state, after(2.995))).toEqual([]);
  });

  it("counts from the last checkpoint, and uses its measured duration", () => {
    const { state, apply } = running([{}]);
    apply({
      kind: "allocation.checkpoint",
      origin: { user: "ada" as never, requestId: null, bodyHash: "" },
      id: "1" as never,
    });
    expect(verdicts(state, after(6.1))).toEqual(["not_running"]);
    apply(report(1, { checkpoint: { n: 1, ok: true, bytes: 5e9, message: "" } }));
    const judged = decideCheckpoints(state, after(1)).judgements.get("1" as never);
    expect(judged).toMatchObject({ sizeBytes: 5e9, writeTime: 0, sinceLastSeconds: 3_600 });
  });

  it("requests none without `auto`, and estimates the duration for all", () => {
    const { state } = running([{ auto: false }]);
    const { judgements, requests, minutes } = decideCheckpoints(state, after(24));
    expect([judgements.get("1" as never)?.verdict, requests]).toEqual(["not_asked", []]);
    expect(minutes.get("1" as never)).toBeCloseTo(32 / 60);
  });
});

describe("checkpoint storage", () => {
  it("is shared: allocations with the largest gain write first, the others wait", () => {
    const { state, apply } = running([{ class: 5 }, { class: 1 }, { class: 5 }]);
    apply(submitted(spec({ class: 4 })));
    expect(asked(state, after(7))).toEqual(["2"]);
    expect(verdicts(state, after(7))).toEqual(["busy", "take", "busy"]);
    expect(asked(state, after(7, { windowSeconds: 70 }))).toEqual(["2", "1"]);
    apply({ kind: "attempt.checkpoint", allocation: "2" as never, attempt: attempt(1), cause: "broker", message: "" });
    expect(asked(state, after(7))).toEqual([]);
  });

  it("that is unavailable stops checkpoints, and the scheduler learns of it", () => {
    const { state } = running([{}, {}]);
    const storageError = (name: NodeId) => (name === "n1" ? "no space left" : "");
    const decided = decideCheckpoints(state, after(7, { storageError }));
    expect([...decided.cannotWrite]).toEqual(["1"]);
    expect(decided.requests.map(({ allocation }) => allocation)).toEqual(["2"]);
    expect(decided.judgements.get("1" as never)).toMatchObject({ verdict: "storage_away", reason: "no space left" });
  });
});

it("raises one notice while it is unavailable, and clears it when all nodes have reported", () => {
  const { state, apply } = running([{}]);
  const away = new Map([["n1" as NodeId, "no space left"]]);
  const raised = decideStorageNotice(state, away, false);
  expect(raised).toMatchObject({ notice: { text: expect.stringContaining("on n1: no space left") } });
  if (raised !== null) apply(raised);
  expect(decideStorageNotice(state, away, true)).toBeNull();
  expect(decideStorageNotice(state, new Map(), false), "a new leader has no reports yet").toBeNull();
  expect(decideStorageNotice(state, new Map(), true)?.kind).toBe("notice.clear");
  expect(decideStorageNotice(state, new Map([["gone" as NodeId, "?"]]), true)?.kind).toBe("notice.clear");
});

it("a hardware warning raises the risk of a node, a drain does not", () => {
  const chance = (...commands: readonly Command[]) => {
    const { state, apply } = running([{}]);
    for (const command of commands) apply(command);
    return decideCheckpoints(state, after(3)).judgements.get("1" as never)?.value ?? 0;
  };
  const warn = { kind: "node.health", node: "n1" as NodeId, verdict: "warning", reason: "dimm3" } as const;
  const usual = chance();
  expect(chance(warn)).toBeGreaterThan(usual);
  expect(chance(warn, { ...warn, verdict: "repaired" })).toBe(usual);
  const origin = { user: "ada", requestId: null, bodyHash: "" };
  expect(chance({ kind: "node.drain", origin, node: "n1" as NodeId, reason: "" } as unknown as Command)).toBe(usual);
});

it("a checkpoint without reports expires after its longest possible extension", () => {
  const { state, apply } = running([{}]);
  apply({ kind: "attempt.checkpoint", allocation: "1" as never, attempt: attempt(1), cause: "broker", message: "" });
  const look = (
    at: number,
    seen: ReadonlyMap<string, never> | Parameters<typeof decideOverdueCheckpoints>[1]["seen"],
  ) => decideOverdueCheckpoints(state, { now: instant(at), seen, margin: duration(60_000) });
  const first = look(0, new Map());
  expect(first.expired).toEqual([]);
  // Ten minutes, an extension by half, five minutes of deferral, and one minute of margin.
  expect(look(21 * 60_000 - 1, first.seen).expired).toEqual([]);
  expect(look(21 * 60_000, first.seen).expired).toEqual([
    { kind: "checkpoint.expire", allocation: "1", attempt: 1, n: 1 },
  ]);
  const record: Allocation | undefined = state.allocation("1" as never);
  expect(record?.phase.kind).toBe("checkpointing");
});
