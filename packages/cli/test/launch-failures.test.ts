// How failed tasks are told: one line for all that ended alike on one node.

import { expect, test } from "vitest";
import { Failures } from "../src/commands/launch/failures.ts";

const end = (rank: number, node: string, more: object = {}) => ({
  ...{ rank, node, exitCode: 0, signal: 0, message: "" },
  ...more,
});

test("tasks that ended alike are told together, by node", () => {
  const failures = new Failures();
  for (const one of [end(0, "n1"), end(2, "n2", { exitCode: 7 }), end(3, "n2", { exitCode: 7 })]) failures.add(one);
  failures.add(end(4, "n3", { signal: 9 }));
  failures.add(end(5, "n3", { exitCode: 127, message: "there is no program x" }));
  expect(failures.lines()).toEqual([
    "n2: tasks 2-3: Exited with exit code 7",
    "n3: task 4: Killed",
    "n3: task 5: Exited with exit code 127: there is no program x",
  ]);
});

test("nothing is said of those that ended well", () => {
  const failures = new Failures();
  failures.add(end(0, "n1"));
  expect([failures.isEmpty(), failures.lines()]).toEqual([true, []]);
});
