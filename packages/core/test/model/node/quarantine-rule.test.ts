// The quarantine rule: which failures in a row make a node a black hole, and which are the fault of the work.

import { duration, FAULTS_TO_QUARANTINE, type Node, quarantineReason } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { id } from "../../support/cluster.ts";

type Fault = NonNullable<Node["faults"]>[number];

/** "1 ada": the node's own failure of allocation 1. "1 ada 5": the work failed after 5 s. */
function fault(text: string): Fault {
  const [allocation = "", user = "", after] = text.split(" ");
  const common = { allocation: id(allocation), user: user as Fault["user"] };
  return after === undefined
    ? { ...common, own: true }
    : { ...common, own: false, after: duration(Number(after) * 1000) };
}

const reason = (...faults: readonly string[]): string | null =>
  quarantineReason({ faults: faults.map(fault) } as unknown as Node);

describe("a node", () => {
  it.each([
    ["without faults", []],
    ["with two failed starts", ["1 ada", "2 ada"]],
    ["with one allocation that failed three times", ["1 ada", "1 ada", "1 ada"]],
    ["with three elements of one group", ["1_0 ada", "1_1 ada", "1_2 ada"]],
    ["with quick failures of one user", ["1 ada 1", "2 ada 1", "3 ada 1", "4 ada 1"]],
    ["with quick failures of two users", ["1 ada 1", "2 bob 1", "3 ada 1"]],
    ["where work of a third user failed late", ["1 ada 1", "2 bob 1", "3 eve 10"]],
    ["where work ran for long in between", ["1 ada", "2 ada", "3 bob 60", "4 ada", "5 ada"]],
  ])("%s is not a black hole", (_name, faults) => {
    expect(reason(...faults)).toBeNull();
  });

  it.each([
    [["1 ada", "2 ada", "3 ada"], "3 allocations in a row could not be run on it"],
    [["1 ada", "2 ada", "3 ada", "4 ada"], "4 allocations in a row could not be run on it"],
    [["1_0 ada", "2_0 ada", "3_0 ada"], "3 allocations in a row could not be run on it"],
    [["1 ada 1", "2 bob 1", "3 eve 9.999"], "work of 3 users in a row failed on it at once"],
    [["1 ada", "2 bob 1", "3 eve 1"], "work of 3 users in a row failed on it at once"],
    [["9 zoe 60", "1 ada", "2 ada", "3 ada"], "3 allocations in a row could not be run on it"],
  ])("with the faults %j is a black hole: %s", (faults, text) => {
    expect(reason(...faults)).toBe(text);
  });

  it("is judged by the configured limits", () => {
    const node = { faults: ["1 ada 20", "2 bob 20"].map(fault) } as unknown as Node;
    expect(quarantineReason(node, { failures: 2, quick: duration(10_000) })).toBeNull();
    expect(quarantineReason(node, { failures: 2, quick: duration(20_000) })).toBeNull();
    expect(quarantineReason(node, { failures: 2, quick: duration(20_001) })).not.toBeNull();
    expect(quarantineReason(node, { failures: 3, quick: duration(60_000) })).toBeNull();
  });

  it("is never a black hole for fewer distinct allocations than the limit", () => {
    const some = fc.tuple(fc.integer({ min: 1, max: 9 }), fc.constantFrom("ada", "bob", "eve"));
    fc.assert(
      fc.property(fc.array(some, { maxLength: 8 }), (list) => {
        const found = reason(...list.map(([n, user]) => `${n} ${user}`));
        const distinct = new Set(list.map(([n]) => n)).size;
        const users = new Set(list.map(([, user]) => user)).size;
        expect(found !== null).toBe(distinct >= FAULTS_TO_QUARANTINE || users >= FAULTS_TO_QUARANTINE);
      }),
    );
  });
});
