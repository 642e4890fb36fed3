// The faults that the chaos must have, by name; a run without names plays all of them.
import { expect, test } from "vitest";
import { FAULTS, faultsNamed } from "./faults.ts";

const PROMISED = [
  ...["kill-leader", "kill-member", "kill-all", "pause-leader", "partition-1-2", "partition-node", "slow-disk"],
  ...["full-disk", "clock-jump-servers", "clock-jump-agents", "corrupt-newest-snapshot", "defrag-and-compaction"],
  ...["agent-crash", "three-agents-at-once", "old-attempt", "remove-member-data"],
];

test("every documented fault exists once, with its expectation", () => {
  const names = FAULTS.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(PROMISED));
  expect(new Set(names).size).toBe(names.length);
  for (const { name, expectation } of FAULTS) expect(expectation.split(" ").length, name).toBeGreaterThan(4);
});

test("faults are selected by name, and an unknown name lists the known ones", () => {
  expect(faultsNamed(["slow-disk", "kill-all"]).map(({ name }) => name)).toEqual(["slow-disk", "kill-all"]);
  expect(() => faultsNamed(["rain"])).toThrow(/there is no fault "rain"; there are .*slow-disk/);
});
