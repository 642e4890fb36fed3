// Bad input: each command with a bad field is refused with that field, and nothing changes.

import { stateHash } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Cluster, createCluster, register, sha256, submit } from "./support/cluster.ts";
import { faults } from "./support/faults.ts";

const RUNS = 3000;

function prepared(): Cluster {
  const cluster = createCluster(register("n1"));
  cluster.apply(submit(), submit());
  cluster.place(2, "n1");
  cluster.report(2, "n1", "running");
  cluster.report(2, "n1", "completed");
  return cluster;
}

describe("bad input (V5)", () => {
  it("is refused with the field named, and changes nothing", () => {
    const cluster = prepared();
    // Gets an empty entry for each bad one: then equal hashes mean that only the index has moved.
    const twin = prepared();
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(faults, ({ command, code, field }) => {
        const applied = cluster.apply(command);
        twin.apply();
        const [outcome] = applied.outcomes;
        if (outcome?.kind !== "rejected") throw new Error(`${JSON.stringify(command)} was accepted`);
        expect(outcome.refusal.code).toBe(code);
        if (field !== null) expect(outcome.refusal.fields?.map((problem) => problem.field)).toContain(field);
        expect([applied.events, applied.effects]).toEqual([[], []]);
        expect(stateHash(cluster.state, sha256)).toBe(stateHash(twin.state, sha256));
        seen.set(command.kind, (seen.get(command.kind) ?? 0) + 1);
      }),
      { numRuns: RUNS },
    );
    for (const kind of ["allocation.submit", "allocation.update", "tenant.create", "tenant.update"]) {
      expect(seen.get(kind), kind).toBeGreaterThan(100);
    }
    for (const kind of ["vcluster.create", "vcluster.update", "allocation.cancel", "node.drain"]) {
      expect(seen.get(kind), kind).toBeGreaterThan(10);
    }
  });
});
