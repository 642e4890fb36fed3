// DAGs: waiting, drawing, and the submitted document.

import type { Allocation, DagMember, TaskGroupStatus } from "@lattice/sdk";
import { describe, expect, test } from "vitest";
import { dagBody } from "../src/commands/dag/body.ts";
import { drawGraph } from "../src/commands/dag/graph.ts";
import { membersToResume } from "../src/commands/dag/wait.ts";
import { groupLine } from "../src/commands/status/group.ts";
import { nodeCount } from "../src/commands/status/table.ts";

const plain = (_colour: string, text: string): string => text;
const member = (name: string, ...after: readonly string[]): DagMember => ({
  name,
  allocation_id: "1",
  state: "pending",
  reason: "",
  depends_on: after.map((text) => {
    const [ref = "", condition = "success"] = text.split(":");
    return { ref, condition };
  }),
});

test("a wait ends when only a resume can continue the DAG", () => {
  const at = (name: string, state: DagMember["state"], change: Partial<DagMember> = {}): DagMember => ({
    ...member(name),
    ...change,
    state,
  });
  const slept = { reason: "walltime" };
  const names = (...members: readonly DagMember[]) => membersToResume({ members }).map(({ name }) => name);
  const after = { depends_on: [{ ref: "a", condition: "success" }] };
  expect(names(at("a", "suspended", slept), at("b", "pending", after), at("c", "completed"))).toEqual(["a"]);
  expect(names(at("a", "suspended", slept), at("b", "running"))).toEqual([]);
  expect(names(at("a", "suspended", slept), at("b", "pending")), "it is queued").toEqual([]);
  expect(names(at("a", "suspended", { reason: "preempted" })), "it is queued again by itself").toEqual([]);
  const group = { size: 3, suspended: 1, completed: 2 } as TaskGroupStatus;
  expect(names(at("a", "running", { group }), at("b", "pending", after))).toEqual(["a"]);
  expect(names(at("a", "running", { group: { ...group, completed: 1, running: 1 } }))).toEqual([]);
});

describe("the drawing", () => {
  test("goes from left to right, with further dependents below", () => {
    const members = [
      member("prep"),
      member("train", "prep"),
      member("eval", "train"),
      member("notify", "train:failure"),
    ];
    expect(drawGraph(members, plain, 120)).toEqual([
      "prep [Pending] → train [Pending] → eval [Pending]",
      "                                 ↘ notify [Pending] (failure)",
    ]);
  });

  test("shows each member once and only its name after that", () => {
    const members = [member("a"), member("b"), member("c", "a", "b:any"), member("d", "c", "lock:mutex")];
    expect(drawGraph(members, plain, 120)).toEqual([
      "a [Pending] → c [Pending] → d [Pending]",
      "b [Pending] → c (any)",
    ]);
  });

  test("is a list when it is too wide", () => {
    const members = Array.from({ length: 50 }, (_, n) => member(`m${n}`, ...(n === 0 ? [] : [`m${n - 1}`])));
    const drawn = drawGraph(members, plain, 80);
    expect(drawn).toHaveLength(50);
    expect(drawn[1]).toBe("m1 [Pending] ← m0");
  });

  test("is quick for ten thousand members in a chain", () => {
    const members = Array.from({ length: 10_000 }, (_, n) => member(`m${n}`, ...(n === 0 ? [] : [`m${n - 1}`])));
    expect(drawGraph(members, plain, 80)).toHaveLength(10_000);
  });
});

test("a document gets the tenant of the command line, and each member a working directory", () => {
  const document = { dag: { name: "x", allocations: [{ name: "a" }, { name: "b", workdir: "sub" }, 3] } };
  expect(dagBody(document, { tenant: "physics", cwd: "/here" })).toEqual({
    name: "x",
    tenant: "physics",
    allocations: [{ name: "a", workdir: "/here" }, { name: "b", workdir: "/here/sub" }, 3],
  });
});

test("a task group is summarized in tables and details", () => {
  const range = { start: 0, end: 19, step: 1, concurrency: 3 };
  const group = { range, size: 20, running: 3, waiting: 17 } as TaskGroupStatus;
  expect(groupLine(group)).toBe("20 (0-19), at most 3 at a time: 3 running, 17 waiting");
  expect(
    nodeCount({ id: "12", state: "running", group, spec: { resources: { nodes: { min: 1, max: 1 } } } } as Allocation),
  ).toBe("1×20");
});
