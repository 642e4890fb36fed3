// A live cluster as a trace for rm-replay: nodes, vClusters, tenants, submissions and ends, one JSON object per line.
// Pure. The next leader may repeat a submission; readers take the first one.

import {
  type Allocation,
  CONSTRAINT_FIELDS,
  CONSTRAINT_NAMES,
  type Constraints,
  type Event,
  isFinal,
  type Lending,
  MAX_WALLTIME_MS,
  type Node,
  type Tenant,
  type VCluster,
  type View,
} from "@lattice/core";

interface TraceLines {
  /** Returns the state of the cluster, with all pending and running work. */
  header(view: View): string[];
  /** Returns the lines for the events of one entry. */
  after(view: View, events: readonly { readonly event: Event }[]): string[];
}

export function createTraceLines(): TraceLines {
  /** The last line per node: most changes of a node do not appear in a trace. */
  const nodes = new Map<string, string>();
  const tenants = new Map<string, string>();
  const tenantLine = (tenant: Tenant, at: number): string[] => {
    const described = describeTenant(tenant);
    const text = JSON.stringify(described);
    if (tenants.get(tenant.id) === text) return [];
    tenants.set(tenant.id, text);
    return [line(at, "tenant", { tenant: described })];
  };
  const nodeLine = (node: Node, at: number): string[] => {
    const described = describeNode(node);
    const text = JSON.stringify(described);
    if (nodes.get(node.id) === text) return [];
    nodes.set(node.id, text);
    return [line(at, "node", { node: described })];
  };
  return {
    header(view) {
      nodes.clear();
      tenants.clear();
      const vclusters = [...view.vclusters()].sort((a, b) => Number(b.isDefault) - Number(a.isDefault));
      const lines = vclusters.map((vcluster) => line(view.at, "vcluster", { vcluster: describeVCluster(vcluster) }));
      for (const node of view.nodes()) lines.push(...nodeLine(node, view.at));
      for (const tenant of view.tenants()) lines.push(...tenantLine(tenant, view.at));
      const open: Allocation[] = [...view.placed()];
      for (const { id } of vclusters) open.push(...view.pending(id));
      open.sort((a, b) => a.submittedAt - b.submittedAt);
      return [...lines, ...open.map(submission)];
    },
    after(view, events) {
      const lines: string[] = [];
      for (const { event } of events) {
        if (event.kind === "node_changed" && event.node !== undefined) {
          const node = view.node(event.node);
          if (node !== undefined) lines.push(...nodeLine(node, view.at));
        }
        if (event.kind === "vcluster_changed" && event.vcluster !== undefined) {
          const vcluster = view.vcluster(event.vcluster);
          if (vcluster !== undefined) lines.push(line(view.at, "vcluster", { vcluster: describeVCluster(vcluster) }));
        }
        if (event.kind === "tenant_changed" && event.tenant !== undefined) {
          const tenant = view.tenant(event.tenant);
          if (tenant !== undefined) lines.push(...tenantLine(tenant, view.at));
        }
        if (event.kind === "allocation_changed" && event.allocation !== undefined) {
          const record = view.allocation(event.allocation);
          if (record !== undefined && event.from === "") lines.push(submission(record));
          if (record !== undefined && event.from !== "" && isFinal(record.phase)) lines.push(...completion(record));
        }
      }
      return lines;
    },
  };
}

const line = (at: number, type: string, fields: object): string =>
  `${JSON.stringify({ ts: new Date(at).toISOString(), type, ...fields })}\n`;

function submission({ id, user, spec, submittedAt }: Allocation): string {
  const { minNodes, maxNodes, constraints } = spec.resources;
  const { walltime, preemptionClass, noPreempt = false } = spec.lifecycle;
  return line(submittedAt, "submit", {
    alloc: {
      id,
      user,
      tenant: spec.tenant,
      vcluster: spec.vcluster,
      nodes: minNodes === maxNodes ? minNodes : { min: minNodes, max: maxNodes },
      // A service gets the longest walltime.
      walltime: `${(walltime ?? MAX_WALLTIME_MS) / 1000}s`,
      priority: preemptionClass,
      ...withoutEmpty(constraintFields(constraints)),
      ...(noPreempt ? { no_preempt: true } : {}),
    },
  });
}

/** Keys as in traces. */
function constraintFields(constraints: Constraints): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  for (const name of CONSTRAINT_NAMES) {
    const { name: field, kind } = CONSTRAINT_FIELDS[name];
    if (kind === "memory_policy") continue;
    const value = constraints[name];
    if (kind === "gigabytes" && typeof value === "number") fields[field] = value / 2 ** 30;
    else fields[field] = kind === "topology" && value !== "tight" ? "" : value;
  }
  return fields;
}

/** Omits empty values. */
const withoutEmpty = (fields: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => !saysNothing(value)));

const saysNothing = (value: unknown): boolean =>
  value === undefined || value === "" || value === 0 || value === false || (Array.isArray(value) && value.length === 0);

/** Work that never ran has no time; a replay drops and counts it. Work that started and ended in one report did run. */
function completion({ id, phase }: Allocation): string[] {
  if (!isFinal(phase)) return [];
  const { startedAt, endedAt, exitCode } = phase;
  const ran = startedAt === null ? 0 : Math.max(1, endedAt - startedAt) / 1000;
  return [line(endedAt, "complete", { alloc_id: id, duration: `${ran}s`, state: phase.kind, exit: exitCode })];
}

function describeNode({ id, group, conformance, homeVCluster, capabilities }: Node) {
  const { cpuCores, memoryBytes, gpuType, gpuCount, features } = capabilities;
  const { cxlMemoryBytes = 0, powerWatts, gpuTopology, memoryTopology } = capabilities;
  return {
    id,
    group,
    cpu_cores: cpuCores,
    memory_gb: memoryBytes / 2 ** 30,
    ...withoutEmpty({
      conformance,
      gpu_type: gpuType,
      gpu_count: gpuCount,
      features,
      vcluster: homeVCluster ?? "",
      cxl_memory_gb: cxlMemoryBytes / 2 ** 30,
      power_watts: powerWatts,
      gpu_topology: gpuTopology,
      memory_topology: memoryTopology,
    }),
  };
}

const describeVCluster = ({ id, scheduler, backfillDepth, weights, ...policy }: VCluster) => ({
  name: id,
  scheduler,
  backfill_depth: backfillDepth,
  weights,
  preempts: policy.preempts,
  preemptible: policy.preemptible,
  borrows: policy.borrows,
  lending: policy.lending ? describeLending(policy.lending) : policy.lending,
});

const describeLending = ({ keepNodes, maxClass, maxDuration, returnGrace }: Lending) => ({
  keep_nodes: keepNodes,
  max_class: maxClass,
  max_duration: maxDuration === null ? null : `${maxDuration / 1000}s`,
  return_grace: `${returnGrace / 1000}s`,
});

/** A missing limit means none. */
function describeTenant({ id, quota }: Tenant) {
  const { maxNodes, maxConcurrentAllocations, fairShareMilli, gpuHoursBudget, nodeHoursBudget } = quota;
  const { burstAllowanceMilli } = quota;
  return {
    name: id,
    ...(maxNodes === null ? {} : { max_nodes: maxNodes }),
    ...(maxConcurrentAllocations === null ? {} : { max_concurrent_allocations: maxConcurrentAllocations }),
    ...(fairShareMilli === null ? {} : { fair_share_target: fairShareMilli / 1000 }),
    ...(gpuHoursBudget === null ? {} : { gpu_hours_budget: gpuHoursBudget }),
    ...(nodeHoursBudget === null ? {} : { node_hours_budget: nodeHoursBudget }),
    ...(burstAllowanceMilli === null ? {} : { burst_allowance: burstAllowanceMilli / 1000 }),
  };
}
