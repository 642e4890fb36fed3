// Launches are counted for each attempt, from 0, as Slurm counts steps.
import { expect, test } from "vitest";
import { stepNumbers } from "../../../src/nodes/tasks/steps.ts";

test("each attempt has its own count; beyond the limit the oldest restarts", () => {
  const next = stepNumbers(2);
  expect([next("7.1"), next("7.1"), next("8.1"), next("7.1")]).toEqual([0, 1, 0, 2]);
  expect([next("9.1"), next("8.1"), next("7.1")]).toEqual([0, 1, 0]);
});
