// Commands that must be refused, each with the refusal it must get: the field named where one is at
// fault. They are made for a cluster with the tenant "physics", the vCluster "batch", allocation 1
// pending and allocation 2 completed.

import { type AllocationSpec, type Command, type Quota, type Refusal, UNLIMITED, WEIGHT_PROFILES } from "@lattice/core";
import fc from "fast-check";
import {
  cancel,
  disable,
  drain,
  enable,
  id,
  origin,
  type SpecChange,
  spec,
  submit,
  tenant,
  tenantId,
  undrain,
  vcluster,
  vclusterId,
} from "./cluster.ts";

export interface Fault {
  readonly command: Command;
  readonly code: Refusal["code"];
  readonly field: string | null;
}

const nul = fc.tuple(fc.string(), fc.string()).map(([a, b]) => `${a}\0${b}`);
const longerThan = (length: number) => fc.integer({ min: 1, max: 50 }).map((more) => "x".repeat(length + more));
const notCount = (least: number, most: number): fc.Arbitrary<number> =>
  fc.oneof(
    fc.integer({ min: Number.MIN_SAFE_INTEGER, max: least - 1 }),
    fc.integer({ min: most + 1, max: Number.MAX_SAFE_INTEGER }),
    fc.double({ noInteger: true }),
    fc.constant(Number.POSITIVE_INFINITY),
  );
const badName = fc.oneof(
  fc.constantFrom("", " ", "Not Good", "-first", "ünïcode", "a/b", "a\0b"),
  fc.constant("x".repeat(64)),
);

/** Refused as invalid, with this field named. */
const invalid = <T>(field: string, values: fc.Arbitrary<T>, make: (value: T) => Command): fc.Arbitrary<Fault> =>
  values.map((value) => ({ command: make(value), code: "invalid_argument", field }));
const refused = (code: Refusal["code"], command: Command): Fault => ({ command, code, field: null });

const ofSpec = (made: AllocationSpec): Command => ({
  kind: "allocation.submit",
  origin: origin(),
  spec: made,
  createTenant: true,
});
const changing = (change: SpecChange): Command => ofSpec(spec(change));
const taskOf = (task: AllocationSpec["task"]): Command => ofSpec({ ...spec(), task });
const inEnvironment = (environment: AllocationSpec["environment"]): Command => ofSpec({ ...spec(), environment });

const submissions: fc.Arbitrary<Fault> = fc.oneof(
  invalid("allocation.resources.nodes.min", notCount(1, 1_000_000), (n) => changing({ nodes: [n, 1_000_000] })),
  invalid("allocation.resources.nodes.max", notCount(1, 1_000_000), (n) => changing({ nodes: [1, n] })),
  invalid("allocation.resources.nodes.min", fc.integer({ min: 2, max: 1_000_000 }), (n) =>
    changing({ nodes: [n, n - 1] }),
  ),
  invalid("allocation.lifecycle.preemption_class", notCount(0, 10), (n) =>
    changing({ lifecycle: { preemptionClass: n } }),
  ),
  invalid("allocation.lifecycle.max_requeue", notCount(0, 100), (n) => changing({ lifecycle: { maxRequeue: n } })),
  invalid("allocation.lifecycle.walltime_seconds", fc.integer({ max: 0 }), (n) =>
    changing({ lifecycle: { walltime: n as never } }),
  ),
  invalid("allocation.tenant", fc.constantFrom("", "Not Good"), (text) => ofSpec({ ...spec(), tenant: text as never })),
  invalid("allocation.entrypoint", fc.oneof(fc.constantFrom("", " ", "\n\t"), nul), (line) =>
    taskOf({ kind: "entrypoint", line }),
  ),
  invalid("allocation.script", nul, (text) => taskOf({ kind: "script", text })),
  invalid("allocation.command", nul, (word) => taskOf({ kind: "command", words: ["echo", word] })),
  invalid("allocation.name", fc.oneof(nul, longerThan(256)), (name) => ofSpec({ ...spec(), name })),
  invalid("allocation.tags", nul, (text) => ofSpec({ ...spec(), tags: { a: text } })),
  invalid("allocation.environment.variables", nul, (text) => inEnvironment({ variables: { A: text }, workdir: "" })),
  invalid("allocation.environment.workdir", fc.stringMatching(/^[a-z.]/), (workdir) =>
    inEnvironment({ variables: {}, workdir }),
  ),
);

const updateOf = (
  change: Extract<Command, { kind: "allocation.update" }>["change"],
  n: number | string = 1,
): Command => ({
  kind: "allocation.update",
  origin: origin(),
  id: id(n),
  change,
});

const updates: fc.Arbitrary<Fault> = fc.oneof(
  invalid("name", fc.oneof(nul, longerThan(256)), (name) => updateOf({ name })),
  invalid("tags", nul, (text) => updateOf({ tags: { a: text } })),
  invalid("tags", fc.constant(""), (key) => updateOf({ tags: { [key]: "a" } })),
  invalid("preemption_class", notCount(0, 10), (preemptionClass) => updateOf({ preemptionClass })),
  invalid("walltime_seconds", notCount(1, 10 * 365 * 24 * 3600 * 1000), (n) => updateOf({ walltime: n as never })),
);

const QUOTA: readonly (readonly [keyof Quota, string, number])[] = [
  ["maxNodes", "quota.max_nodes", 1e12],
  ["maxConcurrentAllocations", "quota.max_concurrent_allocations", 1e12],
  ["fairShareMilli", "quota.fair_share_target", 1000],
  ["gpuHoursBudget", "quota.gpu_hours_budget", 1e12],
  ["nodeHoursBudget", "quota.node_hours_budget", 1e12],
  ["burstAllowanceMilli", "quota.burst_allowance", 100_000],
];
const tenantUpdate = (
  change: Extract<Command, { kind: "tenant.update" }>["change"],
  name: string = "physics",
): Command => ({ kind: "tenant.update", origin: origin(), tenant: tenantId(name), change });

const tenants: fc.Arbitrary<Fault> = fc.oneof(
  invalid("id", badName, (name) => tenant(name)),
  invalid("max_preemption_class", notCount(0, 10), (n) => tenant("new", {}, n)),
  invalid("max_preemption_class", notCount(0, 10), (n) => tenantUpdate({ maxPreemptionClass: n })),
  invalid("description", fc.oneof(nul, longerThan(1024)), (description) => tenantUpdate({ description })),
  invalid("description", nul, (description) => ({ ...tenant("new"), description }) as Command),
  ...QUOTA.flatMap(([key, field, most]) => [
    invalid(field, notCount(0, most), (n) => tenant("new", { ...UNLIMITED, [key]: n })),
    invalid(field, notCount(0, most), (n) => tenantUpdate({ quota: { [key]: n } })),
  ]),
);

type VClusterChange = Extract<Command, { kind: "vcluster.update" }>["change"];
const vclusterUpdate = (change: VClusterChange, name: string = "batch"): Command => ({
  kind: "vcluster.update",
  origin: origin(),
  vcluster: vclusterId(name),
  change,
});
/** The same fault in a new vCluster and in one that is there. */
const inBoth = <T>(field: string, values: fc.Arbitrary<T>, make: (value: T) => VClusterChange): fc.Arbitrary<Fault> =>
  fc.oneof(
    invalid(field, values, (value) => {
      const { weights, ...change } = make(value);
      return vcluster("new", { ...change, weights: { ...WEIGHT_PROFILES.hpc_backfill, ...weights } });
    }),
    invalid(field, values, (value) => vclusterUpdate(make(value))),
  );

const vclusters: fc.Arbitrary<Fault> = fc.oneof(
  invalid("id", badName, (name) => vcluster(name)),
  inBoth("weights.fair_share", notCount(0, 1_000_000), (n) => ({ weights: { fair_share: n } })),
  inBoth("cycle_interval_seconds", notCount(1, 3_600_000), (n) => ({ cycleInterval: n as never })),
  inBoth("backfill_depth", notCount(0, 10_000), (n) => ({ backfillDepth: n })),
  inBoth("default_walltime_seconds", notCount(1, 10 * 365 * 24 * 3600 * 1000), (n) => ({
    defaultWalltime: n as never,
  })),
  inBoth("max_walltime_seconds", notCount(1, 10 * 365 * 24 * 3600 * 1000), (n) => ({ maxWalltime: n as never })),
  inBoth("default_walltime_seconds", fc.integer({ min: 2, max: 1_000_000 }), (n) => ({
    defaultWalltime: n as never,
    maxWalltime: (n - 1) as never,
  })),
  inBoth("description", fc.oneof(nul, longerThan(1024)), (description) => ({ description })),
);

/** Well formed, but about what is not there, is over, or is forbidden. */
const unfitting: fc.Arbitrary<Fault> = fc.constantFrom(
  ...["3", "0", "999999", "1_0", "x", ""].flatMap((n) => [
    refused("unknown_allocation", cancel(n)),
    refused("unknown_allocation", updateOf({ name: "a" }, n)),
  ]),
  refused("illegal_transition", cancel(2)),
  refused("illegal_transition", updateOf({ name: "a" }, 2)),
  refused("already_exists", tenant("physics")),
  refused("unknown_tenant", tenantUpdate({ description: "a" }, "unknown")),
  refused("already_exists", vcluster("batch", { isDefault: true })),
  refused("unknown_tenant", vcluster("new", { tenant: tenantId("unknown"), isDefault: true })),
  refused("unknown_vcluster", vclusterUpdate({ description: "a" }, "nowhere")),
  // The tenant, unknown so far, must not come to be by what is refused.
  refused("unknown_vcluster", submit({ tenant: "stranger", vcluster: "nowhere" })),
  refused("unknown_tenant", { ...submit({ tenant: "stranger" }), createTenant: false } as Command),
  ...[drain, undrain, disable, enable].map((verb) => refused("unknown_node", verb("nothing"))),
);

export const faults: fc.Arbitrary<Fault> = fc.oneof(submissions, updates, tenants, vclusters, unfitting);
