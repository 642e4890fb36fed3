// The allocation record and what is read from it: phases, attempts by node, the text that an element runs, the end of a
// whole group, and the history that is kept within bounds.

import {
  type Allocation,
  type AllocationPhase,
  allocationMoves,
  attempt,
  attemptAt,
  attemptOn,
  canMove,
  groupEnd,
  instant,
  isActive,
  isFinal,
  isPlaced,
  isQueued,
  logIndex,
  MAX_PAST_CHECKPOINT_NOTES,
  MAX_PAST_NOTES,
  MAX_PAST_REFUSALS,
  NO_COUNTS,
  type PhaseKind,
  placementConstraints,
  specToRun,
  type TaskGroup,
} from "@lattice/core";
import { describe, expect, it } from "vitest";
import { foldGroup } from "../../../src/model/allocation/group-record.ts";
import { isNoted, withNote, withRefusal } from "../../../src/model/allocation/record-past.ts";
import { id, nodeId, spec } from "../../support/cluster.ts";

const KINDS = Object.keys(allocationMoves) as readonly PhaseKind[];
const record = (change: Partial<Allocation> = {}): Allocation =>
  ({
    ...{ id: id(7), attempt: attempt(2), spec: spec(), phase: { kind: "pending" }, unmet: [], excludedNodes: [] },
    ...change,
  }) as unknown as Allocation;
const phase = (kind: PhaseKind, more: object = {}): AllocationPhase =>
  ({ kind, ...more }) as unknown as AllocationPhase;

describe("a phase", () => {
  it("is final exactly when no move leads out of it", () => {
    for (const kind of KINDS) expect(isFinal(phase(kind)), kind).toBe(allocationMoves[kind].length === 0);
  });

  it("is placed exactly when it holds nodes", () => {
    expect(KINDS.filter((kind) => isPlaced(phase(kind)))).toEqual(["staging", "running", "checkpointing"]);
  });

  it("is left for pending only by work that had nodes or was suspended", () => {
    expect(KINDS.filter((kind) => canMove(kind, "pending"))).toEqual([
      "staging",
      "running",
      "checkpointing",
      "suspended",
    ]);
  });

  it("may be cancelled and may fail unless it is final", () => {
    for (const kind of KINDS) {
      expect([canMove(kind, "cancelled"), canMove(kind, "failed")]).toEqual(
        isFinal(phase(kind)) ? [false, false] : [true, true],
      );
    }
  });

  it("is active while its processes run and continue to run", () => {
    expect(isActive(phase("running"))).toBe(true);
    expect(isActive(phase("checkpointing", { request: { next: "go_on" } }))).toBe(true);
    expect(isActive(phase("checkpointing", { request: { next: "suspend" } }))).toBe(false);
    expect(isActive(phase("staging"))).toBe(false);
  });
});

describe("an allocation", () => {
  it.each<[boolean, string, Partial<Allocation>]>([
    [true, "waits for nodes only", {}],
    [false, "has unmet dependencies", { unmet: [0] }],
    [false, "is on hold", { hold: { as: "user", by: "ada" as never, since: instant(0) } }],
    [false, "has a backoff", { phase: phase("pending", { backoffUntil: 5 }) }],
    [false, "is staging", { phase: phase("staging") }],
    [false, "is suspended", { phase: phase("suspended") }],
  ])("is queued: %s when it %s", (queued, _name, change) => {
    expect(isQueued(record(change))).toBe(queued);
  });

  it("has one attempt for all nodes, unless nodes were added later", () => {
    const nodes = ["n1", "n2"].map(nodeId);
    const placed = phase("running", { nodes }) as never;
    expect([attemptAt(record(), placed, 0), attemptAt(record(), placed, 1)]).toEqual([2, 2]);
    const grown = phase("running", { nodes, attempts: [1, 2] }) as never;
    expect([attemptAt(record(), grown, 0), attemptAt(record(), grown, 1)]).toEqual([1, 2]);
    expect(attemptOn(record({ phase: grown }), nodeId("n1"))).toBe(1);
    expect(attemptOn(record({ phase: grown }), nodeId("n9"))).toBe(2);
    expect(attemptOn(record(), nodeId("n1"))).toBe(2);
  });

  it("is not placed on nodes that it or its record excludes, each named once", () => {
    const wanted = spec({ resources: { excludedNodes: [nodeId("n1")] } });
    const excluding = record({ spec: wanted, excludedNodes: ["n1", "n2"].map(nodeId) });
    expect(placementConstraints(excluding).excludedNodes).toEqual(["n1", "n2"]);
    expect(placementConstraints(excluding)).toBe(placementConstraints(excluding));
    expect(placementConstraints(record({ spec: wanted }))).toBe(wanted.resources.constraints);
    expect(placementConstraints(record({ spec: wanted, excludedNodes: [] }))).toBe(wanted.resources.constraints);
  });
});

describe("the index of an element", () => {
  const text = "run $" + "{INDEX} of $" + "{INDEX} and $" + "{OTHER}";
  const element = { group: id(7), index: 42 };
  const environment = { variables: { A: "x$" + "{INDEX}", B: "plain" }, workdir: "/$" + "{INDEX}" };

  it("replaces the variable in the entrypoint, in words and in the values of variables", () => {
    const line = specToRun(
      record({ spec: { ...spec(), task: { kind: "entrypoint", line: text }, environment }, element }),
    );
    expect(line.task).toEqual({ kind: "entrypoint", line: "run 42 of 42 and $" + "{OTHER}" });
    expect(line.environment).toEqual({ variables: { A: "x42", B: "plain" }, workdir: "/$" + "{INDEX}" });
    const words = specToRun(record({ spec: { ...spec(), task: { kind: "command", words: ["echo", text] } }, element }));
    expect(words.task).toEqual({ kind: "command", words: ["echo", "run 42 of 42 and $" + "{OTHER}"] });
  });

  it("does not change a script, or an allocation that is no element", () => {
    const script = { kind: "script", text } as const;
    expect(specToRun(record({ spec: { ...spec(), task: script }, element })).task).toEqual(script);
    const plain = { ...spec(), task: { kind: "entrypoint", line: text } as const };
    expect(specToRun(record({ spec: plain }))).toBe(plain);
  });
});

describe("the end of a whole group", () => {
  const group = (kind: "completed" | "failed" | "cancelled" | "running", change: Partial<TaskGroup> = {}): TaskGroup =>
    ({
      id: id(7),
      user: "ada",
      spec: spec(),
      submittedAt: instant(1),
      range: { start: 0, end: 9, step: 1 },
      concurrency: 2,
      counts: { ...NO_COUNTS, failed: 3, cancelled: 4 },
      phase: { kind, startedAt: instant(2), ...(kind === "running" ? {} : { endedAt: instant(3) }) },
      ...change,
    }) as unknown as TaskGroup;

  it.each([
    [group("completed"), { kind: "completed", message: "" }],
    [group("failed"), { kind: "failed", reason: "element_failed", message: "3 of 10 elements failed" }],
    [
      group("cancelled"),
      { kind: "cancelled", by: "ada", reason: "elements_cancelled", message: "4 of 10 elements were cancelled" },
    ],
    [
      group("cancelled", { cancelled: { by: "root" as never, reason: "maintenance", message: "sorry" } }),
      { kind: "cancelled", by: "root", reason: "maintenance", message: "sorry" },
    ],
  ])("is a final phase with its reason", (ended, expected) => {
    expect(groupEnd(ended)).toEqual({ nodes: [], startedAt: 2, endedAt: 3, exitCode: null, ...expected });
  });

  it("is null while elements are left", () => {
    expect(() => groupEnd(group("running"))).toThrow("has not ended");
  });

  it("becomes one record for the history, with the counts of its elements", () => {
    const folded = foldGroup(group("failed", { dag: "dag-6" as never }));
    expect(folded).toMatchObject({
      id: "7",
      attempt: 0,
      dag: "dag-6",
      phase: { kind: "failed" },
      group: { concurrency: 2, counts: { failed: 3, cancelled: 4 }, range: { end: 9 } },
    });
  });
});

describe("the history in a record", () => {
  const stamp = (n: number) => ({ at: instant(n), index: logIndex(n) });
  const note = (kind: string, text = "x") => ({ type: "state", kind, text }) as const;

  it("keeps the newest notes, and counts the dropped ones with the newest dropped entry", () => {
    let kept = record();
    for (let n = 1; n <= MAX_PAST_NOTES + 5; n += 1) kept = withNote(kept, note("updated"), stamp(n));
    expect(kept.past?.notes).toHaveLength(MAX_PAST_NOTES);
    expect(kept.past?.notes?.[0]?.index).toBe(6);
    expect(kept.past?.cut).toEqual({ count: 5, through: 5 });
  });

  it("drops notes of checkpoints before notes of anything else", () => {
    let kept = withNote(record(), note("updated"), stamp(1));
    for (let n = 2; n <= MAX_PAST_CHECKPOINT_NOTES + 3; n += 1)
      kept = withNote(kept, note("checkpoint_taken"), stamp(n));
    expect(kept.past?.notes?.map(({ kind }) => kind).filter((kind) => kind === "updated")).toHaveLength(1);
    expect(kept.past?.notes).toHaveLength(MAX_PAST_CHECKPOINT_NOTES + 1);
    expect(kept.past?.cut).toEqual({ count: 2, through: 3 });
  });

  it("has one refusal per plan, and the newest of them", () => {
    const refusal = (basis: number) => ({ code: "stale_plan", detail: "old", basis: logIndex(basis) }) as const;
    const once = withRefusal(record(), refusal(1), stamp(2));
    expect(withRefusal(once, refusal(1), stamp(3))).toBe(once);
    let kept = once;
    for (let n = 2; n <= MAX_PAST_REFUSALS + 1; n += 1) kept = withRefusal(kept, refusal(n), stamp(n + 1));
    expect(kept.past?.refusals.map(({ basis }) => basis)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    expect(kept.past?.cut).toEqual({ count: 1, through: 2 });
  });

  it("recognises a note that is still valid by kind, text and attempt", () => {
    const noted = withNote(record(), note("vni_wait", "full"), stamp(1));
    expect(isNoted(noted, note("vni_wait", "full"))).toBe(true);
    expect(isNoted(noted, note("vni_wait", "other"))).toBe(false);
    expect(isNoted(noted, note("held", "full"))).toBe(false);
    expect(isNoted({ ...noted, attempt: attempt(3) }, note("vni_wait", "full"))).toBe(false);
    expect(isNoted(withNote(noted, note("held"), stamp(2)), note("vni_wait", "full"))).toBe(false);
  });

  it("names the first 16 nodes of a note", () => {
    const nodes = Array.from({ length: 20 }, (_, n) => nodeId(`n${n}`));
    const noted = withNote(record(), { ...note("node_lost"), nodes }, stamp(1));
    expect(noted.past?.notes?.[0]?.nodes).toEqual(nodes.slice(0, 16));
  });
});
