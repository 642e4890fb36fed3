// A live cluster as a trace that rm-replay reads: nodes, vClusters, tenants, submissions and ends, one JSON object per
// line. Pure.
// A submission may be written again by the next leader; readers take the first and pass over the others.

import {
  type Allocation,
  type Event,
  isFinal,
  MAX_WALLTIME_MS,
  type Node,
  type Tenant,
  type VCluster,
  type View,
} from "@lattice/core";

export interface TraceLines {
  /** All that a reader has to know about the cluster as it is, and everyone who waits or runs. */
  header(view: View): string[];
  /** What the events of one entry add. */
  after(view: View, events: readonly { readonly event: Event }[]): string[];
}

export function createTraceLines(): TraceLines {
  /** As written last: most changes of a node change nothing that a trace tells. */
  const nodes = new Map<string, string>();
  const tenants = new Map<string, string>();
  const tenantLine = (tenant: Tenant, at: number): string[] => {
    const told = describeTenant(tenant);
    const text = JSON.stringify(told);
    if (tenants.get(tenant.id) === text) return [];
    tenants.set(tenant.id, text);
    return [line(at, "tenant", { tenant: told })];
  };
  const nodeLine = (node: Node, at: number): string[] => {
    const told = describeNode(node);
    const text = JSON.stringify(told);
    if (nodes.get(node.id) === text) return [];
    nodes.set(node.id, text);
    return [line(at, "node", { node: told })];
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
  const { minNodes, constraints } = spec.resources;
  const { walltime, preemptionClass, noPreempt = false } = spec.lifecycle;
  const { gpuType, gpuCount, memoryBytes, features, topology, cpuCores, excludedNodes } = constraints;
  return line(submittedAt, "submit", {
    alloc: {
      id,
      user,
      tenant: spec.tenant,
      vcluster: spec.vcluster,
      nodes: minNodes,
      // What never ends is given the longest time there is.
      walltime: `${(walltime ?? MAX_WALLTIME_MS) / 1000}s`,
      priority: preemptionClass,
      ...(gpuType === "" ? {} : { gpu_type: gpuType }),
      ...(gpuCount === 0 ? {} : { gpu_count: gpuCount }),
      ...(memoryBytes === 0 ? {} : { memory_gb: memoryBytes / 2 ** 30 }),
      ...(features.length === 0 ? {} : { features }),
      ...(topology === "tight" ? { topology } : {}),
      ...(cpuCores === 0 ? {} : { cpu_cores: cpuCores }),
      ...(excludedNodes.length === 0 ? {} : { excluded_nodes: excludedNodes }),
      ...(noPreempt ? { no_preempt: true } : {}),
    },
  });
}

/** Of one that never ran: no time, which a replay drops and counts. What began and ended in one report ran, too. */
function completion({ id, phase }: Allocation): string[] {
  if (!isFinal(phase)) return [];
  const { startedAt, endedAt, exitCode } = phase;
  const ran = startedAt === null ? 0 : Math.max(1, endedAt - startedAt) / 1000;
  return [line(endedAt, "complete", { alloc_id: id, duration: `${ran}s`, state: phase.kind, exit: exitCode })];
}

function describeNode({ id, group, conformance, homeVCluster, capabilities }: Node) {
  const { cpuCores, memoryBytes, gpuType, gpuCount, features } = capabilities;
  return {
    id,
    group,
    ...(conformance === "" ? {} : { conformance }),
    cpu_cores: cpuCores,
    memory_gb: memoryBytes / 2 ** 30,
    ...(gpuCount === 0 ? {} : { gpu_type: gpuType, gpu_count: gpuCount }),
    ...(features.length === 0 ? {} : { features }),
    ...(homeVCluster === null ? {} : { vcluster: homeVCluster }),
  };
}

const describeVCluster = ({ id, scheduler, backfillDepth, weights }: VCluster) => ({
  name: id,
  scheduler,
  backfill_depth: backfillDepth,
  weights,
});

/** A limit that is left out is none. */
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
