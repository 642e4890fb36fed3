// Task groups of listed indexes: only these elements exist, under every rule that uses the index.

import { type Command, type Outcome, parseIndexes, rangeOfRuns } from "@lattice/core";
import { expect, it } from "vitest";
import {
  type Cluster,
  cancel,
  createCluster,
  id,
  register,
  submitGroup,
  vclusterId,
  verdict,
} from "./support/cluster.ts";

const NODES = ["n1", "n2", "n3", "n4"];
const cluster = () => createCluster(...NODES.map((name) => register(name)));

/** Runs it to its end on the first free node. */
function run(c: Cluster, n: string): void {
  const node = NODES.find((name) => c.claims(name).length === 0) ?? "";
  c.place(n, node);
  c.report(n, node, "running");
  c.report(n, node, "completed");
}

const queue = (c: Cluster): readonly string[] =>
  Array.from(c.state.pending(vclusterId("batch")), (record) => record.id);
const fieldsOf = (outcome: Outcome): string => (outcome.kind === "rejected" ? outcome.refusal.detail : "accepted");

it("a task group with listed indexes runs only these, and is cancelled and waited for by index", () => {
  const c = cluster();
  const listed = (text: string, after: readonly string[] = []): Command => {
    const parsed = parseIndexes(text);
    if (parsed.kind === "bad") throw new Error(parsed.detail);
    return { ...submitGroup([0, 0], 2, { after }), range: rangeOfRuns(parsed.runs) } as Command;
  };
  c.apply(listed("1,3,5-7"), listed("2-3,9", ["1:corresponding"]));
  // 2 and 9 have no counterpart.
  expect(queue(c)).toEqual(["1_1", "1_3", "2_2", "2_9"]);
  run(c, "1_1");
  expect(queue(c)).toEqual(["1_3", "1_5", "2_2", "2_9"]);
  const some = cancel(1);
  if (some.kind !== "allocation.cancel") throw new Error("not a cancellation");
  expect(verdict(c.one({ ...some, elements: [{ from: 4, to: 4 }] }))).toBe("unknown_allocation");
  expect(fieldsOf(c.one(cancel("1_2")))).toContain("the group has 1,3,5-7");
  expect(verdict(c.one({ ...some, elements: [{ from: 4, to: 6 }] }))).toBe("accepted");
  expect(c.state.group(id(1))?.counts).toEqual({ made: 2, completed: 1, failed: 0, cancelled: 2 });
  run(c, "2_2");
  run(c, "2_9");
  run(c, "1_3");
  expect(queue(c)).toContain("2_3");
  run(c, "1_7");
  expect(c.state.group(id(1))?.phase.kind).toBe("cancelled");
});

it.each([
  [
    "out of order",
    [
      { start: 5, end: 7, step: 1, before: 0 },
      { start: 1, end: 1, step: 1, before: 3 },
    ],
    "in order",
  ],
  [
    "counted wrong",
    [
      { start: 1, end: 1, step: 1, before: 0 },
      { start: 5, end: 7, step: 1, before: 3 },
    ],
    "not agree",
  ],
  [
    "without an index",
    [
      { start: 1, end: 0, step: 1, before: 0 },
      { start: 5, end: 7, step: 1, before: 1 },
    ],
    "no index",
  ],
])("a task group with a list %s is refused", (_, runs, why) => {
  const c = cluster();
  const made = submitGroup([runs[0]?.start ?? 0, runs[1]?.end ?? 0]);
  if (made.kind !== "group.submit") throw new Error("not a group");
  const outcome = c.one({ ...made, range: { ...made.range, runs } });
  expect(fieldsOf(outcome)).toMatch(new RegExp(`task_group\\.(start|indexes).*${why}`));
  expect(c.state.group(id(1))).toBeUndefined();
});
