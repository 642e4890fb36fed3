// Dependencies, task groups and DAGs, one rule at a time.

import {
  applyEntry,
  attempt,
  createState,
  dagState,
  type Event,
  GROUP_WINDOW,
  type Outcome,
  stateHash,
} from "@lattice/core";
import { describe, expect, it } from "vitest";
import {
  type Cluster,
  cancel,
  cancelDag,
  createCluster,
  entryFor,
  id,
  type MemberChange,
  register,
  reportOf,
  sha256,
  submit,
  submitDag,
  submitGroup,
  vcluster,
  vclusterId,
  verdict,
} from "./support/cluster.ts";

const NODES = ["n1", "n2", "n3", "n4"];
const cluster = () => createCluster(...NODES.map((name) => register(name)));

/** Runs it to its end on the first free node. */
function run(c: Cluster, n: number | string, end: "completed" | "failed" = "completed"): void {
  const node = NODES.find((name) => c.claims(name).length === 0) ?? "";
  c.place(n, node);
  c.report(n, node, "running");
  c.report(n, node, end);
}

const queue = (c: Cluster): readonly string[] =>
  Array.from(c.state.pending(vclusterId("batch")), (record) => record.id);
const endings = (events: readonly Event[]): readonly string[] =>
  events.flatMap(({ allocation, to, reason }) => (allocation === undefined ? [] : [`${allocation} ${to} ${reason}`]));
const fieldsOf = (outcome: Outcome): string => (outcome.kind === "rejected" ? outcome.refusal.detail : "accepted");

describe("dependencies", () => {
  it.each([
    ["success", "completed", "queued"],
    ["success", "failed", "cancelled"],
    ["failure", "completed", "cancelled"],
    ["failure", "failed", "queued"],
    ["any", "completed", "queued"],
    ["any", "failed", "queued"],
    ["corresponding", "completed", "queued"],
    ["corresponding", "failed", "cancelled"],
  ] as const)("with the condition %s after an allocation that %s: %s", (condition, end, becomes) => {
    const c = cluster();
    c.apply(submit(), submit({ after: [`1:${condition}`] }));
    expect([queue(c), c.phase(2)]).toEqual([["1"], "pending"]);
    run(c, 1, end);
    expect(c.phase(2)).toBe(becomes === "queued" ? "pending" : "cancelled");
    expect(queue(c)).toEqual(becomes === "queued" ? ["2"] : []);
    // The same when it is submitted afterwards.
    c.apply(submit({ after: [`1:${condition}`] }));
    expect(c.phase(3)).toBe(c.phase(2));
  });

  it("are met together, and the release is a separate event", () => {
    const c = cluster();
    c.apply(submit(), submit(), submit({ after: ["1", "2:any"] }));
    run(c, 1);
    expect(queue(c)).toEqual(["2"]);
    const index = c.state.index;
    run(c, 2, "failed");
    expect(queue(c)).toEqual(["3"]);
    expect(c.state.allocation(id(3))?.pendingSinceIndex).toBeGreaterThan(index);
  });

  it("cascade, and one failed alternative meets a failure edge", () => {
    const c = cluster();
    c.apply(
      submit(),
      submit({ after: ["1"] }),
      submit({ after: ["2"] }),
      submit({ after: ["1:failure", "3:failure"] }),
    );
    const applied = c.apply(cancel(1));
    expect([c.phase(2), c.phase(3), c.phase(4)]).toEqual(["cancelled", "cancelled", "pending"]);
    expect(queue(c)).toEqual(["4"]);
    expect(endings(applied.events)).toContain("2 cancelled dependency_failed");
    const second = c.state.allocation(id(2))?.phase;
    expect(second).toMatchObject({ reason: "dependency_failed", message: "it depends on 1, which was cancelled" });
  });

  it("fail when the last alternative fails", () => {
    const c = cluster();
    c.apply(submit(), submit(), submit({ after: ["1:failure", "2:failure"] }));
    run(c, 1);
    expect(c.phase(3)).toBe("pending");
    run(c, 2);
    expect(c.phase(3)).toBe("cancelled");
  });

  it("stay unmet during a requeue", () => {
    const c = cluster();
    c.apply(submit(), submit({ after: ["1"] }));
    c.place(1, "n1");
    c.apply({ kind: "allocation.requeue", allocation: id(1), expectedRequeues: 0, cause: "node_failure" });
    expect(queue(c)).toEqual(["1"]);
    run(c, 1);
    expect(queue(c)).toEqual(["2"]);
  });

  it("are met when all nodes report their end in one entry", () => {
    const c = cluster();
    c.apply(submit({ nodes: 3 }), submit({ after: ["1"] }));
    c.place(1, "n1", "n2", "n3");
    const reports = (state: "running" | "completed") =>
      ["n1", "n2", "n3"].map((node) => reportOf(1, node, attempt(1), state));
    c.apply(...reports("running"));
    c.apply(...reports("completed"));
    expect([c.phase(1), queue(c)]).toEqual(["completed", ["2"]]);
  });

  it("are rechecked when a plan places the allocation", () => {
    const c = cluster();
    c.apply(submit(), submit({ after: ["1"] }));
    expect(verdict(c.place(2, "n1").outcomes[0])).toBe("stale_plan");
  });

  it.each([
    ["9:success", 'allocation.depends_on[0].ref: there is no allocation "9" of tenant "physics"'],
    ["x:any", 'allocation.depends_on[0].ref: there is no allocation "x" of tenant "physics"'],
    ["1:sometimes", "allocation.depends_on[0].condition: must be one of"],
    [":mutex", "allocation.depends_on[0].ref: must be given"],
    ["2:success", "there is no allocation"],
  ])("on %s are refused with the field", (edge, detail) => {
    const c = cluster();
    c.apply(submit(), submit({ tenant: "other" }, { user: "eve" as never, requestId: null, bodyHash: "" }));
    expect(fieldsOf(c.one(submit({ after: [edge] })))).toContain(detail);
    expect(c.state.allocationCount).toBe(2);
  });

  it("reach work of the same user in another tenant", () => {
    const { outcomes } = cluster().apply(submit({ tenant: "other" }), submit({ after: ["1"] }));
    expect(outcomes.at(-1)?.kind).toBe("accepted");
  });

  it("resolve a chain of twenty thousand without recursion", () => {
    const state = createState();
    const chain = Array.from({ length: 20_000 }, (_, n) => submit(n === 0 ? {} : { after: [`${n}`] }));
    applyEntry(state, entryFor(state, 1, [vcluster("batch"), ...chain]));
    applyEntry(state, entryFor(state, 2, [cancel(1)]));
    expect(state.allocation(id(20_000))?.phase.kind).toBe("cancelled");
  });
});

describe("mutex", () => {
  it("has one holder, keeps it over a requeue, and passes to the lowest id", () => {
    const c = cluster();
    c.apply(submit({ after: ["disk:mutex"] }), submit({ after: ["disk:mutex"] }), submit({ after: ["disk:mutex"] }));
    expect(queue(c)).toEqual(["1"]);
    c.place(1, "n1");
    c.apply({ kind: "allocation.requeue", allocation: id(1), expectedRequeues: 0, cause: "policy" });
    expect(queue(c)).toEqual(["1"]);
    run(c, 1, "failed");
    expect(queue(c)).toEqual(["2"]);
    c.apply(cancel(2));
    expect(queue(c)).toEqual(["3"]);
    expect(c.state.mutexHolder("physics" as never, "disk")).toBe("3");
  });

  it("belongs to a tenant, and the mutexes of an allocation are acquired last and in order", () => {
    const c = cluster();
    c.apply(submit({ after: ["a:mutex"] }), submit({ tenant: "other", after: ["a:mutex"] }));
    expect(queue(c)).toEqual(["1", "2"]);
    c.apply(submit({ after: ["b:mutex", "a:mutex"] }), submit({ after: ["b:mutex"] }));
    // 3 wants a first, so b is free for 4.
    expect(queue(c)).toEqual(["1", "2", "4"]);
    run(c, 1);
    expect(queue(c)).toEqual(["2", "4"]);
    run(c, 4);
    expect(queue(c)).toEqual(["2", "3"]);
  });
});

describe("task groups", () => {
  it("create elements as others end, within the concurrency", () => {
    const c = cluster();
    c.apply(submitGroup([0, 18, 2], 3));
    expect(queue(c)).toEqual(["1_0", "1_2", "1_4"]);
    run(c, "1_0");
    run(c, "1_2", "failed");
    expect(queue(c)).toEqual(["1_4", "1_6", "1_8"]);
    expect(c.state.group(id(1))?.phase.kind).toBe("running");
    for (const n of [4, 6, 8, 10, 12, 14, 16]) run(c, `1_${n}`);
    const applied = c.apply(cancel("1_18"));
    expect(c.state.group(id(1))).toMatchObject({
      phase: { kind: "failed" },
      counts: { made: 0, completed: 8, failed: 1, cancelled: 1 },
    });
    expect(endings(applied.events)).toContain("1 failed element_failed");
  });

  it("keep a window of elements in the queue when nothing limits them", () => {
    const c = createCluster(register("n1"));
    c.apply(submitGroup([0, 999]));
    expect(c.state.pendingElements(id(1))).toBe(GROUP_WINDOW);
    c.place("1_0", "n1");
    expect(c.state.pendingElements(id(1))).toBe(GROUP_WINDOW);
    expect(c.state.allocation(id(`1_${GROUP_WINDOW}`))).toBeDefined();
  });

  it("list elements in order of id, whenever their records were created", () => {
    const c = cluster();
    c.apply(submitGroup([0, 5], 2), submit());
    run(c, "1_0");
    run(c, "1_1");
    expect(Array.from(c.state.allocations(), (record) => record.id)).toEqual(["1_0", "1_1", "1_2", "1_3", "2"]);
  });

  it("are cancelled as a whole, by element and by range, created or not", () => {
    const c = cluster();
    c.apply(submitGroup([0, 9], 2));
    const some = cancel(1);
    if (some.kind !== "allocation.cancel") throw new Error("not a cancellation");
    expect(
      verdict(
        c.one({
          ...some,
          elements: [
            { from: 1, to: 3 },
            { from: 7, to: 7 },
          ],
        }),
      ),
    ).toBe("accepted");
    expect(queue(c)).toEqual(["1_0", "1_4"]);
    expect(c.state.group(id(1))?.counts).toEqual({ made: 2, completed: 0, failed: 0, cancelled: 4 });
    expect(verdict(c.one({ ...some, elements: [{ from: 1, to: 2 }] }))).toBe("repeated");
    expect(verdict(c.one({ ...some, elements: [{ from: 10, to: 20 }] }))).toBe("unknown_allocation");
    expect(verdict(c.one(cancel("1_99")))).toBe("unknown_allocation");
    run(c, "1_0");
    expect(verdict(c.one(cancel("1_0")))).toBe("illegal_transition");
    c.apply(cancel(1));
    expect(c.state.group(id(1))).toMatchObject({
      phase: { kind: "cancelled" },
      counts: { completed: 1, cancelled: 9 },
    });
    expect(verdict(c.one(cancel(1)))).toBe("repeated");
  });

  it("wait element by element for their counterparts, and elements without one start at once", () => {
    const c = cluster();
    c.apply(submitGroup([0, 2]), submitGroup([0, 4], null, { after: ["1:corresponding"] }));
    expect(queue(c)).toEqual(["1_0", "1_1", "1_2", "2_3", "2_4"]);
    run(c, "1_1");
    expect(queue(c)).toContain("2_1");
    run(c, "1_0", "failed");
    expect(c.state.element(c.state.group(id(2)) as never, 0)).toBe("cancelled");
    run(c, "1_2");
    for (const n of [1, 2, 3, 4]) run(c, `2_${n}`);
    expect(c.state.group(id(2))).toMatchObject({
      phase: { kind: "cancelled" },
      counts: { completed: 4, cancelled: 1 },
    });
  });

  it("can be dependencies, as a whole and by element", () => {
    const c = cluster();
    c.apply(submitGroup([0, 1]), submit({ after: ["1"] }), submit({ after: ["1_1:any"] }));
    run(c, "1_1");
    expect(queue(c)).toEqual(["1_0", "3"]);
    run(c, "1_0");
    expect(queue(c)).toEqual(["2", "3"]);
  });

  it.each([
    [[3, 2], "allocation.task_group.start: the first index 3 is greater than the last, 2"],
    [[0, 9, 0], "allocation.task_group.step: must be a whole number, 1 or more"],
    [[0, 2_000_000], "allocation.task_group.end: would have 2,000,001 elements"],
    [[-1, 2], "allocation.task_group.start"],
  ] as const)("with the range %j are refused with the field, and nothing changes", (range, detail) => {
    const [c, twin] = [cluster(), cluster()];
    expect(fieldsOf(c.one(submitGroup(range as never)))).toContain(detail);
    twin.apply();
    expect(stateHash(c.state, sha256)).toBe(stateHash(twin.state, sha256));
  });

  it("enter the history as one record with the counts of their elements", () => {
    const c = cluster();
    c.apply(submitGroup([0, 1]));
    run(c, "1_0");
    run(c, "1_1");
    const applied = c.apply({ kind: "retention.set", maxFinished: 0, maxFinishedAge: 1 as never });
    const archived = applied.effects.flatMap((effect) => (effect.kind === "archive" ? [effect.record] : []));
    expect(archived.map((record) => [record.id, record.phase.kind])).toEqual([
      ["1_0", "completed"],
      ["1_1", "completed"],
      ["1", "completed"],
    ]);
    expect(archived[2]?.group?.counts.completed).toBe(2);
    expect(c.state.tables.marks.size).toBe(0);
  });
});

describe("DAGs", () => {
  const GUIDE: Readonly<Record<string, MemberChange>> = {
    preprocess: {},
    train: { after: ["preprocess:success"] },
    evaluate: { after: ["train:success"] },
    notify: { after: ["train:failure"] },
  };
  const stateOf = (c: Cluster): string => {
    const [dag] = c.state.dags();
    return dag === undefined ? "absent" : `${dag.id} ${dag.ends} ${dagState(dag)}`;
  };

  it("follow the success edges, and skip the failure edge", () => {
    const c = cluster();
    expect(c.one(submitDag(GUIDE))).toMatchObject({ kind: "accepted", id: "dag-1" });
    expect([queue(c), stateOf(c)]).toEqual([["2"], "dag-1 .... running"]);
    run(c, 2);
    run(c, 3);
    expect(queue(c)).toEqual(["4"]);
    run(c, 4);
    expect(stateOf(c)).toBe("dag-1 cccs completed");
  });

  it("follow the failure edge, and complete", () => {
    const c = cluster();
    c.apply(submitDag(GUIDE));
    run(c, 2);
    run(c, 3, "failed");
    expect(queue(c)).toEqual(["5"]);
    run(c, 5);
    expect(stateOf(c)).toBe("dag-1 cfsc completed");
  });

  it("fail when no edge handles the failure", () => {
    const c = cluster();
    c.apply(submitDag(GUIDE));
    run(c, 2, "failed");
    // A skipped member is not completed, so its dependents are cancelled.
    expect([queue(c), stateOf(c)]).toEqual([["5"], "dag-1 fss. running"]);
    run(c, 5);
    expect(stateOf(c)).toBe("dag-1 fssc failed");
  });

  it("are cancelled as one, and no dependent is released", () => {
    const c = cluster();
    c.apply(submitDag({ ...GUIDE, sweep: { group: [0, 9], concurrency: 2, after: ["preprocess:any"] } }));
    c.place(2, "n1");
    const applied = c.apply(cancelDag(1));
    expect(endings(applied.events).filter((text) => text.includes("released"))).toEqual([]);
    expect(stateOf(c)).toContain("cancelled");
    expect(queue(c)).toEqual([]);
    expect(verdict(c.one(cancelDag(1)))).toBe("repeated");
    expect(verdict(c.one(cancelDag(7)))).toBe("unknown_dag");
  });

  it.each<[string, Readonly<Record<string, MemberChange>>, string]>([
    ["without a member", {}, "allocations: must name at least one allocation"],
    [
      "with a member that depends on itself",
      { a: { after: ["a"] } },
      'allocations[0].depends_on[0].ref: "a" depends on itself',
    ],
    ["with a dependency on an unknown name", { a: { after: ["b"] } }, '"a" depends on "b", which is not in the DAG'],
    [
      "with a circle of dependencies",
      { x: {}, a: { after: ["c"] }, b: { after: ["a"] }, c: { after: ["b", "x"] } },
      'allocations: the dependencies form a cycle: "b" > "c" > "a" > "b"',
    ],
    ["with a bad member", { a: {}, b: { nodes: 0 } }, "allocations[1].resources.nodes.min"],
    ["with a bad range", { a: { group: [3, 1] } }, "allocations[0].task_group.start"],
    ["of two tenants", { a: {}, b: { tenant: "other" } }, "allocations[1].tenant"],
    ["of an unknown vCluster", { a: {}, b: { vcluster: "nowhere" } }, '"b": there is no vCluster "nowhere"'],
  ])("%s are refused with the field, and nothing changes", (_what, members, detail) => {
    const [c, twin] = [cluster(), cluster()];
    expect(fieldsOf(c.one(submitDag(members)))).toContain(detail);
    twin.apply();
    expect(stateHash(c.state, sha256)).toBe(stateHash(twin.state, sha256));
  });

  it("are refused with too many members or with a duplicate name", () => {
    const c = cluster();
    expect(fieldsOf(c.one(submitDag({ a: {}, b: {}, c: {} }, 2)))).toContain("3 allocations, limit: 2");
    const twice = submitDag({ a: {}, b: {} });
    if (twice.kind !== "dag.submit") throw new Error("not a DAG");
    const members = twice.members.map((member) => ({ ...member, name: "a" }));
    expect(fieldsOf(c.one({ ...twice, members }))).toContain(
      'allocations[1].name: "a" is also the name of allocations[0]',
    );
  });
});
