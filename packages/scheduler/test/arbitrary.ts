// Random inputs for the property tests: small machines with mixed hardware and groups, queues with
// every kind of request, tenants with and without limits.

import { type Duration, instant, NO_CONSTRAINTS, type NodeId } from "@lattice/core";
import fc from "fast-check";
import type { CycleInput, NodeInput, PendingInput, ReleaseInput, TenantInput } from "../src/index.ts";
import { input, job, MINUTE, NOW, node, tenant } from "./make.ts";

const count = (min: number, max: number): fc.Arbitrary<number> => fc.integer({ min, max });

export const someNodes: fc.Arbitrary<NodeInput[]> = fc
  .array(
    fc.record({
      group: count(0, 3),
      conformance: fc.constantFrom("", "x", "y"),
      gpus: fc.constantFrom(0, 0, 4),
      fast: fc.boolean(),
      state: fc.constantFrom("free", "free", "free", "busy", "drained"),
    }),
    { minLength: 2, maxLength: 9, size: "max" },
  )
  .map((kinds) =>
    kinds.map(({ group, conformance, gpus, fast, state }, i) =>
      node(`n${i}`, {
        in: `g${group}`,
        conformance,
        gpuCount: gpus,
        gpuType: gpus > 0 ? "GH200" : "",
        features: fast ? ["fast"] : [],
        free: state === "free",
        usable: state !== "drained",
        notFreeBecause: state === "free" ? "" : state,
      }),
    ),
  );

const rarely = (most: number): fc.Arbitrary<readonly number[]> =>
  fc.oneof(
    { weight: 8, arbitrary: fc.constant<readonly number[]>([]) },
    { weight: 1, arbitrary: fc.array(count(0, 8), { maxLength: most }) },
  );

const name = (i: number): NodeId => `n${i}` as NodeId;

/** An absent maximum is no property. */
const withoutUndefined = <Fields extends { readonly maxGroups: number | undefined }>({ maxGroups, ...rest }: Fields) =>
  maxGroups === undefined ? rest : { ...rest, maxGroups };

export const someJob: fc.Arbitrary<Omit<PendingInput, "id">> = fc
  .record({
    tenant: fc.constantFrom("physics", "biology"),
    waited: count(0, 300),
    nodes: count(1, 5),
    extra: fc.constantFrom(0, 0, 0, 2),
    minutes: fc.oneof({ weight: 8, arbitrary: count(1, 120) }, { weight: 1, arbitrary: fc.constant(null) }),
    class: count(0, 10),
    gpuCount: fc.constantFrom(0, 0, 0, 1, 4),
    features: fc.constantFrom([], [], [], ["fast"]),
    topology: fc.constantFrom("any" as const, "any" as const, "tight" as const),
    maxGroups: fc.constantFrom(undefined, undefined, undefined, 1, 2),
    requireConformance: fc.constantFrom(false, false, false, true),
    required: rarely(2),
    excluded: rarely(3),
  })
  .map(
    ({ tenant: owner, waited, nodes, extra, minutes, class: preemptionClass, required, excluded, ...constraints }) => ({
      ...job(0, { class: preemptionClass, nodes, max: nodes + extra, tenant: owner }),
      submittedAt: instant(NOW - waited * MINUTE),
      walltime: minutes === null ? null : ((minutes * MINUTE) as Duration),
      constraints: {
        ...NO_CONSTRAINTS,
        ...withoutUndefined(constraints),
        requiredNodes: required.map(name),
        excludedNodes: excluded.map(name),
      },
    }),
  );

export const someJobs = (max: number): fc.Arbitrary<PendingInput[]> =>
  fc
    .array(someJob, { minLength: 3, maxLength: max, size: "max" })
    .map((jobs) => jobs.map((each, i) => ({ ...each, id: String(i + 1) as PendingInput["id"] })));

export const someTenants: fc.Arbitrary<TenantInput[]> = fc
  .tuple(fc.option(count(2, 8)), fc.option(count(1, 4)), count(0, 1000))
  .map(([maxNodes, maxConcurrentAllocations, fairShareMilli]) => [
    tenant("physics", { maxNodes, maxConcurrentAllocations, fairShareMilli }),
    tenant("biology"),
  ]);

export const someInput: fc.Arbitrary<CycleInput> = fc
  .record({
    nodes: someNodes,
    pending: someJobs(12),
    tenants: someTenants,
    backfillDepth: count(0, 4),
    isFifo: fc.boolean(),
    ends: fc.array(fc.option(count(-5, 200)), { minLength: 9, maxLength: 9 }),
  })
  .map(({ ends, ...rest }) => input({ ...rest, releases: releasesOf(rest.nodes, ends) }));

function releasesOf(nodes: readonly NodeInput[], ends: readonly (number | null)[]): ReleaseInput[] {
  return nodes.flatMap((each, i) => {
    const minutes = ends[i] ?? null;
    const endsAt = minutes === null ? null : instant(NOW + minutes * MINUTE);
    return each.free ? [] : [{ allocation: String(900 + i) as PendingInput["id"], nodes: [each.id], endsAt }];
  });
}
