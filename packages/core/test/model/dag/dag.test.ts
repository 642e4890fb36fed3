// A DAG as submitted and as it ended: the checks of names and edges, and the state that follows from the ends.

import { type Dag, type DagMember, dagState, memberEnd } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { checkDag } from "../../../src/model/dag/check.ts";
import { spec } from "../../support/cluster.ts";
import { edge } from "../../support/edge.ts";

/** "b: a:success lock:mutex" as a member. */
function member(text: string): DagMember {
  const [name = "", rest = ""] = text.split(": ");
  const after = rest === "" ? [] : rest.split(" ");
  return { name, spec: after.length === 0 ? spec() : { ...spec(), dependsOn: after.map(edge) }, group: null };
}

const check = (...members: readonly string[]) => checkDag(members.map(member), 5);
const problems = (...members: readonly string[]): readonly string[] => {
  const checked = check(...members);
  return checked.kind === "good" ? [] : checked.problems.map(({ field, detail }) => `${field}: ${detail}`);
};

describe("a DAG", () => {
  it.each([
    ["one member", ["a"], [0]],
    ["members that are written after their dependents", ["b: a:success", "a"], [1, 0]],
    ["two edges to one member", ["a", "b: a:success a:any"], [0, 1]],
    ["a mutex with the name of a member", ["a: a:mutex", "b: a:mutex"], [0, 1]],
    ["as many members as allowed", ["a", "b", "c", "d", "e"], [0, 1, 2, 3, 4]],
  ])("with %s is accepted", (_name, members, order) => {
    expect(check(...members)).toEqual({ kind: "good", order });
  });

  it.each([
    [[], ["allocations: must name at least one allocation"]],
    [["a", "b", "c", "d", "e", "f"], ["allocations: DAG exceeds maximum size (6 allocations, limit: 5)"]],
    [["a", ""], ["allocations[1].name: must be given: the name identifies a member of a DAG"]],
    [["a", "b", "a"], ['allocations[2].name: "a" is also the name of allocations[0]']],
    [["x".repeat(129)], ["allocations[0].name: must have at most 128 characters, none of them NUL"]],
    [["a: a:success"], ['allocations[0].depends_on[0].ref: "a" depends on itself']],
    [["a: m:mutex z:any"], ['allocations[0].depends_on[1].ref: "a" depends on "z", which is not in the DAG']],
    [
      ["a: c:any", "b: a:success", "c: b:failure", "d"],
      ['allocations: the dependencies form a cycle: "b" > "c" > "a" > "b"'],
    ],
  ])("of %j is refused: %j", (members, expected) => {
    expect(problems(...members)).toEqual(expected);
  });

  it("of 128 characters in a name is accepted", () => {
    expect(problems("x".repeat(128))).toEqual([]);
  });

  it("with several wrong names lists all of them", () => {
    expect(problems("", "a", "a", "")).toEqual([
      "allocations[0].name: must be given: the name identifies a member of a DAG",
      'allocations[2].name: "a" is also the name of allocations[1]',
      "allocations[3].name: must be given: the name identifies a member of a DAG",
      'allocations[3].name: "" is also the name of allocations[0]',
    ]);
  });
});

describe("the state of a DAG", () => {
  /** Members as above; ends as marks. */
  const dag = (ends: string, ...members: readonly string[]): Dag =>
    ({
      members: members.map(member).map(({ name, spec: { dependsOn } }) => ({ name, id: name, needs: dependsOn ?? [] })),
      ends,
    }) as unknown as Dag;

  it.each([
    ["running", "..", ["a", "b"]],
    ["running", "f.", ["a", "b"]],
    ["completed", "cc", ["a", "b"]],
    ["failed", "cf", ["a", "b"]],
    ["completed", "fc", ["a", "b: a:failure"]],
    ["completed", "fc", ["a", "b: a:any"]],
    ["failed", "fs", ["a", "b: a:success"]],
    ["failed", "fcf", ["a", "b: a:failure", "c"]],
    ["cancelled", "cx", ["a", "b"]],
    ["failed", "fx", ["a", "b"]],
    ["cancelled", "fxc", ["a", "b", "c: a:any"]],
    ["completed", "cs", ["a", "b: a:failure"]],
  ])("is %s when %s of %j", (state, ends, members) => {
    expect(dagState(dag(ends, ...members))).toBe(state);
  });

  it("has the end of each member", () => {
    const ended = dag("c.fxs", "a", "b", "c", "d", "e");
    expect([0, 1, 2, 3, 4, 5].map((n) => memberEnd(ended, n))).toEqual([
      "completed",
      null,
      "failed",
      "cancelled",
      "skipped",
      null,
    ]);
  });
});
