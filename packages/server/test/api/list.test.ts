// Lists against a naive reference: sort everything, filter, cut. The implementation never sorts, walks the indexes of
// the view, and merges with the archive.

import { type Allocation, type AllocationId, minimalSpec, type PhaseKind } from "@lattice/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type AllocationQuery, listAllocations } from "../../src/api/handlers/allocation-list.ts";
import { type MemoryPlane, memoryPlane } from "./memory-plane.ts";

function populate(plane: MemoryPlane, fates: readonly Fate[]): void {
  plane.apply({ kind: "retention.set", maxFinished: 2, maxFinishedAge: 1_000_000_000 as never });
  for (const [i, fate] of fates.entries()) {
    plane.addNode(`n${i + 1}`);
    const id = String(i + 1);
    plane.apply({
      kind: "allocation.submit",
      origin: originOf(fate.user),
      createTenant: true,
      spec: specOf(fate.name),
    });
    if (fate.end !== "pending") plane.start(id, [`n${i + 1}`]);
    if (fate.end === "completed") plane.finish(id, 0);
    if (fate.end === "failed") plane.finish(id, 1);
  }
}

interface Fate {
  readonly name: string;
  readonly user: string;
  readonly end: "pending" | "running" | "completed" | "failed";
}

const originOf = (user: string) => ({ user: user as never, requestId: null, bodyHash: "" });
const specOf = (name: string): Allocation["spec"] => minimalSpec({ vcluster: "hpc-batch" as never, name });

const fate = fc.record({
  name: fc.constantFrom("a", "b"),
  // Some users have few allocations, which the index finds, and some have most of them.
  user: fc.constantFrom("ada", "ada", "ada", "ada", "bob", "eve"),
  end: fc.constantFrom("pending" as const, "running" as const, "completed" as const, "failed" as const),
});
const query = fc.record({
  states: fc.subarray<PhaseKind>(["pending", "running", "completed", "failed"]),
  name: fc.constantFrom(undefined, "a"),
  user: fc.constantFrom("", "ada", "bob", "nobody"),
  node: fc.constantFrom(undefined, "n2"),
  size: fc.integer({ min: 1, max: 4 }),
});

test("paging through any list gives every match once, newest first", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fate, { maxLength: 12 }), query, async (fates, asked) => {
      const plane = memoryPlane();
      populate(plane, fates);
      const finishedToo = asked.states.includes("completed") || asked.states.includes("failed");
      const all = [...plane.view().allocations(), ...(finishedToo ? plane.archiveRecords : [])];
      const expected = all
        .filter((r) => asked.states.length === 0 || asked.states.includes(r.phase.kind))
        .filter((r) => asked.user === "" || r.user === asked.user)
        .filter((r) => asked.name === undefined || r.spec.name === asked.name)
        .filter((r) => asked.node === undefined || ("nodes" in r.phase && r.phase.nodes.includes("n2" as never)))
        .map((r) => Number(r.id))
        .sort((a, b) => b - a);

      const seen: number[] = [];
      let before: AllocationId | null = null;
      for (let pages = 0; pages <= fates.length + 1; pages++) {
        const { states, size, name, user, node } = asked;
        const base: AllocationQuery = {
          ...BASE,
          states: new Set(states),
          size,
          user,
          before,
          ...(name === undefined ? {} : { name }),
          ...(node === undefined ? {} : { node }),
        };
        const page = await listAllocations(plane, base);
        expect(page.shown.length).toBeLessThanOrEqual(asked.size);
        seen.push(...page.shown.map((r) => Number(r.id)));
        before = page.nextBefore;
        if (before === null) break;
      }
      expect(before).toBeNull();
      expect(seen).toEqual(expected);
    }),
    { numRuns: 150 },
  );
});

const BASE: AllocationQuery = {
  states: new Set(),
  user: "",
  tenant: "",
  vcluster: "",
  before: null,
  cacheKey: "",
  expand: false,
  size: 100,
  visible: () => true,
};

test("shows only what the caller may see", async () => {
  const plane = memoryPlane();
  populate(plane, [
    { name: "a", user: "ada", end: "pending" },
    { name: "b", user: "ada", end: "pending" },
  ]);
  const page = await listAllocations(plane, { ...BASE, visible: (r) => r.spec.name === "b" });
  expect(page.shown.map((r) => r.id)).toEqual(["2"]);
  expect(page.total).toBe(1);
});
