// Calls of a job script that runs on every node, across a change of leader.
import { expect, test } from "vitest";
import { createCollectiveCalls } from "../../../src/nodes/tasks/collective.ts";
import type { LaunchFailure } from "../../../src/nodes/tasks/outcome.ts";

const failed: LaunchFailure = { exitCode: 3, reason: "task 0" };
const first = { attempt: "7.1", node: "n1", isFirst: true };
const second = { ...first, node: "n2", isFirst: false };

test("the count continues from an adopted launch, for waiting nodes and for later calls", async () => {
  const calls = createCollectiveCalls();
  const back = calls.follow({ ...second, node: "n3" }, 4);
  calls.adopt("7.1", "n1", 4, Promise.resolve(failed));
  expect(await back).toBe(failed);
  expect(calls.next(first)).toBe(5);
  calls.lead(first, Promise.resolve(null));
  expect(await calls.follow({ ...second, node: "n3" }, null)).toBeNull();
});

test("a node that has not called yet joins the running launch", async () => {
  const calls = createCollectiveCalls();
  calls.adopt("7.1", "n1", 4, Promise.resolve(failed));
  expect(await calls.follow(second, null)).toBe(failed);
});
