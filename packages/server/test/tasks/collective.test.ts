// Calls of a script that runs on every node, over a change of leader.
import { expect, test } from "vitest";
import { collective } from "../../src/tasks/collective.ts";
import type { Failure } from "../../src/tasks/outcome.ts";

const failed: Failure = { exitCode: 3, reason: "task 0" };
const first = { attempt: "7.1", node: "n1", isFirst: true };
const second = { ...first, node: "n2", isFirst: false };

test("the count goes on from a launch that is taken up, for nodes that wait and for nodes that call later", async () => {
  const meetings = collective();
  const back = meetings.follow({ ...second, node: "n3" }, 4);
  meetings.takeUp("7.1", "n1", 4, Promise.resolve(failed));
  expect(await back).toBe(failed);
  expect(meetings.next(first)).toBe(5);
  meetings.lead(first, Promise.resolve(null));
  expect(await meetings.follow({ ...second, node: "n3" }, null)).toBeNull();
});

test("a node that had not called yet meets the launch that is under way", async () => {
  const meetings = collective();
  meetings.takeUp("7.1", "n1", 4, Promise.resolve(failed));
  expect(await meetings.follow(second, null)).toBe(failed);
});
