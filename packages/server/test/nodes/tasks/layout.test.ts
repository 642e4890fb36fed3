// The layout of tasks on nodes, and the refusal when they do not fit.
import type { NodeId } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { arrive, newExchange } from "../../../src/nodes/tasks/fence.ts";
import { type LayoutNode, layoutTasks } from "../../../src/nodes/tasks/layout.ts";
import { abortOf, failureOf } from "../../../src/nodes/tasks/outcome.ts";

const nodes = (count: number, cores = 4): LayoutNode[] =>
  Array.from({ length: count }, (_, n) => ({ node: `n${n}` as NodeId, cores }));
const request = (tasks: number | null, tasksPerNode: number | null = null, submitted = 1) => ({
  tasks,
  tasksPerNode,
  submitted,
});
const shares = (layout: ReturnType<typeof layoutTasks>) =>
  layout.kind === "layout" ? layout.shares.map(({ firstRank, tasks }) => [firstRank, tasks]) : layout.detail;

describe("layout", () => {
  test.each([
    [
      "evenly",
      4,
      null,
      [
        [0, 2],
        [2, 2],
      ],
    ],
    [
      "the remainder on the first nodes",
      5,
      null,
      [
        [0, 3],
        [3, 2],
      ],
    ],
    ["fewer tasks than nodes", 1, null, [[0, 1]]],
    [
      "a fixed number on each node",
      null,
      3,
      [
        [0, 3],
        [3, 3],
      ],
    ],
    [
      "filled up in order",
      4,
      3,
      [
        [0, 3],
        [3, 1],
      ],
    ],
    [
      "more than cores, when requested",
      12,
      6,
      [
        [0, 6],
        [6, 6],
      ],
    ],
    [
      "the number of the submission",
      null,
      null,
      [
        [0, 1],
        [1, 1],
      ],
    ],
  ])("%s", (_, tasks, perNode, expected) => {
    expect(shares(layoutTasks(nodes(2), request(tasks, perNode)))).toEqual(expected);
  });

  test.each([
    [0, null, "must be at least 1"],
    [null, 0, "must be at least 1"],
    [9, null, "is 9, and the allocation has 8 cores on 2 nodes"],
    [5, 2, "is 5, and 2 nodes with 2 tasks each take 4"],
    [null, 5_000, "is 5000; at most 1024"],
  ])("%j tasks, %j on each node: refused", (tasks, perNode, detail) => {
    expect(shares(layoutTasks(nodes(2), request(tasks, perNode)))).toBe(detail);
  });

  test("ranks are complete, in order and within the limits of a node", () => {
    const cluster = fc.array(fc.integer({ min: 1, max: 16 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(cluster, fc.integer({ min: 1, max: 320 }), (cores, tasks) => {
        const given = cores.map((count, n) => ({ node: `n${n}` as NodeId, cores: count }));
        const layout = layoutTasks(given, request(tasks));
        const room = cores.reduce((sum, count) => sum + count, 0);
        expect(layout.kind).toBe(tasks > room ? "refused" : "layout");
        if (layout.kind === "refused") return;
        let next = 0;
        for (const share of layout.shares) {
          expect(share.firstRank).toBe(next);
          expect(share.tasks).toBeLessThanOrEqual(given.find(({ node }) => node === share.node)?.cores ?? 0);
          next += share.tasks;
        }
        expect(next).toBe(tasks);
      }),
    );
  });
});

describe("the exchange of addresses", () => {
  const pair = (key: string) => ({ key, value: key });

  /** Feeds arrivals of two nodes and returns the result of each. */
  const resultsOf = (...arrivals: readonly [place: number, number: number, key?: string][]) => {
    let exchange = newExchange(2);
    return arrivals.map(([place, number, key]) => {
      const [next, result] = arrive(exchange, { place, number, entries: key === undefined ? [] : [pair(key)] });
      exchange = next;
      return result;
    });
  };

  test("completes when every node has arrived, in the order of nodes, and once", () => {
    expect(resultsOf([1, 1, "b"], [1, 1, "b"], [0, 1, "a"], [0, 1, "a"], [0, 2])).toEqual([
      null,
      null,
      { number: 1, entries: [pair("a"), pair("b")] },
      null,
      null,
    ]);
  });

  test("continues under a new leader when one node has a result that another lacks", () => {
    // The first node is in the next exchange already; the second still waits for the result of the one before.
    expect(resultsOf([0, 7, "a"], [0, 8, "c"], [1, 7, "b"], [1, 8])).toEqual([
      null,
      null,
      { number: 7, entries: [pair("a"), pair("b")] },
      { number: 8, entries: [pair("c")] },
    ]);
  });
});

test("the end of a task decides the failure of its launch", () => {
  const end = { rank: 3, node: "n1", exitCode: 0, signal: 0, message: "" };
  expect(failureOf(end)).toBeNull();
  expect(failureOf({ ...end, exitCode: 9 })).toEqual({ exitCode: 9, reason: "task 3 on n1 ended with exit code 9" });
  expect(failureOf({ ...end, exitCode: 137, signal: 9 })?.reason).toBe("task 3 on n1 was killed by signal 9");
  expect(failureOf({ ...end, exitCode: 127, message: "command not found: x" })?.reason).toContain("not found: x");
  expect(abortOf({ rank: 1, exitCode: 0, message: "bye" })).toEqual({
    exitCode: 1,
    reason: "task 1 aborted the launch: bye",
  });
});
