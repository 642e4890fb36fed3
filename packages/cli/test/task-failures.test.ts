// The report of failed tasks: one line for all tasks that ended alike on one node.

import { expect, test } from "vitest";
import { TaskFailures } from "../src/launch/task-failures.ts";

const end = (rank: number, node: string, more: object = {}) => ({
  rank,
  node,
  exitCode: 0,
  signal: 0,
  message: "",
  ...more,
});

test("tasks that ended alike on one node share a line", () => {
  const failures = new TaskFailures();
  for (const one of [end(0, "n1"), end(2, "n2", { exitCode: 7 }), end(3, "n2", { exitCode: 7 })]) failures.add(one);
  failures.add(end(4, "n3", { signal: 9 }));
  failures.add(end(5, "n3", { exitCode: 127, message: "there is no program x" }));
  expect(failures.lines()).toEqual([
    "n2: tasks 2-3: Exited with exit code 7",
    "n3: task 4: Killed",
    "n3: task 5: Exited with exit code 127: there is no program x",
  ]);
});

test("successful tasks are not reported", () => {
  const failures = new TaskFailures();
  failures.add(end(0, "n1"));
  expect([failures.isEmpty(), failures.lines()]).toEqual([true, []]);
});
