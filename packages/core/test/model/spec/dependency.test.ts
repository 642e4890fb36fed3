// Edges between allocations: how the end of one is judged for another. A wrong verdict starts work too early or leaves
// it waiting for good.

import type { EndKind } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judgeEnd, mutexEdges } from "../../../src/model/spec/dependency.ts";
import { edge } from "../../support/edge.ts";

const judge = (edges: readonly string[], ref: string, end: EndKind, unmet = edges.map((_, n) => n)) =>
  judgeEnd(edges.map(edge), unmet, ref, end);

describe("an edge", () => {
  it.each<[string, EndKind, "met" | "dead"]>([
    ["success", "completed", "met"],
    ["success", "failed", "dead"],
    ["success", "cancelled", "dead"],
    ["corresponding", "completed", "met"],
    ["corresponding", "failed", "dead"],
    ["corresponding", "cancelled", "dead"],
    ["any", "completed", "met"],
    ["any", "failed", "met"],
    ["any", "cancelled", "met"],
    ["failure", "failed", "met"],
    ["failure", "cancelled", "met"],
    ["failure", "completed", "dead"],
  ])("of the condition %s to work that %s is %s", (condition, end, verdict) => {
    expect(judge([`1:${condition}`], "1", end)).toEqual(verdict === "met" ? [] : "dead");
  });

  it("to other work is unchanged", () => {
    expect(judge(["1:success", "2:success"], "1", "completed")).toEqual([1]);
    expect(judge(["1:success", "2:success"], "3", "failed")).toEqual([0, 1]);
  });

  it("that is already met is not judged again", () => {
    expect(judge(["1:success", "2:any"], "1", "failed", [1])).toEqual([1]);
  });

  it("of a mutex is never met by an end", () => {
    expect(judge(["1:mutex", "1:success"], "1", "completed")).toEqual([0]);
    expect(judge(["1:mutex"], "1", "failed")).toEqual([0]);
  });

  it("with the condition failure is an alternative, and one met alternative meets all", () => {
    expect(judge(["1:failure", "2:failure", "3:success"], "1", "failed")).toEqual([2]);
    expect(judge(["1:failure", "2:failure"], "1", "completed")).toEqual([1]);
    expect(judge(["1:failure", "2:failure"], "2", "completed", [1])).toBe("dead");
  });

  it("that is dead stays dead, even if the same end meets another edge", () => {
    expect(judge(["1:any", "1:success"], "1", "failed")).toBe("dead");
    expect(judge(["1:success", "1:failure"], "1", "completed")).toBe("dead");
    expect(judge(["1:success", "1:failure"], "1", "failed")).toBe("dead");
  });
});

describe("edges", () => {
  const conditions = ["success", "failure", "any", "corresponding"] as const;
  const ends = ["completed", "failed", "cancelled"] as const;
  const someEdge = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.constantFrom(...conditions));
  const fates = fc.tuple(...Array.from({ length: 4 }, () => fc.constantFrom(...ends)));

  it("have the same verdict in whatever order the work ends", () => {
    fc.assert(
      fc.property(
        fc.array(someEdge, { minLength: 1, maxLength: 5 }),
        fates,
        fc.shuffledSubarray([1, 2, 3, 4], { minLength: 4, maxLength: 4 }),
        (list, how, order) => {
          const texts = list.map(([ref, condition]) => `${ref}:${condition}`);
          let left: readonly number[] | "dead" = texts.map((_, n) => n);
          for (const ref of order) {
            if (left === "dead") break;
            left = judge(texts, String(ref), how[ref - 1] ?? "completed", [...left]);
          }
          expect(left === "dead" ? "dead" : left.length === 0 ? "met" : "open").toBe(verdictOf(list, how));
        },
      ),
      { numRuns: 500 },
    );
  });
});

/** All of the edges that are no failure edges hold, and of the failure edges at least one. */
function verdictOf(list: readonly (readonly [number, string])[], how: readonly EndKind[]): "met" | "dead" {
  const end = (ref: number): EndKind => how[ref - 1] ?? "completed";
  const plain = list.every(
    ([ref, condition]) => condition === "failure" || condition === "any" || end(ref) === "completed",
  );
  const failures = list.filter(([, condition]) => condition === "failure");
  const caught = failures.length === 0 || failures.some(([ref]) => end(ref) !== "completed");
  return plain && caught ? "met" : "dead";
}

describe("the names of mutexes", () => {
  it("are taken in order of name, then of place, which excludes deadlocks", () => {
    const edges = ["z:mutex", "1:any", "a:mutex", "m:mutex"].map(edge);
    expect(mutexEdges(edges, [0, 1, 2, 3])).toEqual([2, 3, 0]);
    expect(mutexEdges(edges, [3, 0])).toEqual([3, 0]);
    expect(mutexEdges(edges, [1])).toEqual([]);
  });
});
