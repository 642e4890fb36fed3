// Bad input: refused with the field named, and nothing changes.

import { type AllocationSpec, checkSpec, createState, stateHash } from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCluster, origin, sha256, spec, submit } from "./support/cluster.ts";

type Fault = readonly [field: string, spec: AllocationSpec];

const nul = fc.tuple(fc.string(), fc.string()).map(([a, b]) => `${a}\0${b}`);
const notCount = (least: number, most: number): fc.Arbitrary<number> =>
  fc.oneof(
    fc.integer({ max: least - 1 }),
    fc.integer({ min: most + 1 }),
    fc.double({ noInteger: true }),
    fc.constant(Number.POSITIVE_INFINITY),
  );
const fault = <T>(field: string, values: fc.Arbitrary<T>, make: (value: T) => AllocationSpec): fc.Arbitrary<Fault> =>
  values.map((value) => [`allocation.${field}`, make(value)]);

const faults: fc.Arbitrary<Fault> = fc.oneof(
  fault("resources.nodes.min", notCount(1, 1_000_000), (n) => spec({ nodes: [n, 1_000_000] })),
  fault("resources.nodes.max", notCount(1, 1_000_000), (n) => spec({ nodes: [1, n] })),
  fault("resources.nodes.min", fc.integer({ min: 2, max: 1_000_000 }), (n) => spec({ nodes: [n, n - 1] })),
  fault("lifecycle.preemption_class", notCount(0, 10), (n) => spec({ lifecycle: { preemptionClass: n } })),
  fault("lifecycle.max_requeue", notCount(0, 100), (n) => spec({ lifecycle: { maxRequeue: n } })),
  fault("lifecycle.walltime_seconds", fc.integer({ max: 0 }), (n) => spec({ lifecycle: { walltime: n as never } })),
  fault("tenant", fc.constant(""), (text) => ({ ...spec(), tenant: text as never })),
  fault("entrypoint", fc.constantFrom("", " ", "\n\t"), (line) => ({ ...spec(), task: { kind: "entrypoint", line } })),
  fault("entrypoint", nul, (line) => ({ ...spec(), task: { kind: "entrypoint", line } })),
  fault("script", nul, (text) => ({ ...spec(), task: { kind: "script", text } })),
  fault("command", nul, (word) => ({ ...spec(), task: { kind: "command", words: ["echo", word] } })),
  fault("name", nul, (name) => ({ ...spec(), name })),
  fault("tags", nul, (text) => ({ ...spec(), tags: { a: text } })),
  fault("environment.variables", nul, (text) => ({ ...spec(), environment: { variables: { A: text }, workdir: "" } })),
  fault("environment.workdir", fc.stringMatching(/^[a-z.]/), (workdir) => ({
    ...spec(),
    environment: { variables: {}, workdir },
  })),
);

describe("bad input (V5)", () => {
  it("is refused with the field named, and changes nothing", () => {
    const { state, apply } = createCluster();
    apply(submit());
    let refused = 0;
    fc.assert(
      fc.property(faults, ([field, bad]) => {
        expect(checkSpec(bad).map((problem) => problem.field)).toContain(field);
        const before = [state.allocationCount, state.counters.nextAllocation, Array.from(state.tenants()).length];
        const [outcome] = apply({
          kind: "allocation.submit",
          origin: origin(),
          spec: bad,
          createTenant: true,
        }).outcomes;
        expect(outcome?.kind === "rejected" && outcome.refusal.code).toBe("invalid_argument");
        expect([state.allocationCount, state.counters.nextAllocation, Array.from(state.tenants()).length]).toEqual(
          before,
        );
        refused += 1;
      }),
      { numRuns: 1500 },
    );
    expect(refused).toBe(1500);
    expect(stateHash(state, sha256)).not.toBe(stateHash(createState(), sha256));
  });
});
