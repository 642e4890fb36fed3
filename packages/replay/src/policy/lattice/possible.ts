// Drops and counts the jobs that the machine could never run, by the scheduler's own check on an idle machine and by the
// quota of the job's tenant. They would otherwise wait without end.

import { NO_CONSTRAINTS } from "@lattice/core";
import { largestFeasible, type NodeInput } from "@lattice/scheduler";
import type { InventoryNode } from "../../inventory/inventory.ts";
import type { JobRequest } from "../../trace/request.ts";
import { keepRows, type Trace } from "../../trace/trace.ts";
import type { LatticeSetup } from "./setup.ts";

export function possibleOn(trace: Trace, setup: LatticeSetup): Trace {
  const largest = new Map<string, number>();
  const allowed = allowedBy(trace);
  const rows: number[] = [];
  for (let row = 0; row < trace.count; row += 1) {
    const ask = trace.requests?.[row] ?? null;
    const key = ask === null ? "" : JSON.stringify(ask);
    const matching = largest.get(key) ?? largestJob(setup, ask);
    largest.set(key, matching);
    const needed = Math.ceil((trace.size[row] as number) / setup.unit);
    const granted = Math.floor((allowed[trace.tenant[row] as number] as number) / setup.unit);
    if (needed <= Math.min(matching, granted)) rows.push(row);
  }
  if (rows.length === trace.count) return trace;
  const tooLarge = trace.dropped.tooLarge + trace.count - rows.length;
  return { ...keepRows(trace, rows), dropped: { ...trace.dropped, tooLarge } };
}

/** By tenant, the largest job its quota allows, in the unit of the trace. */
function allowedBy({ tenants, limits }: Trace): Float64Array {
  const allowed = new Float64Array(tenants.length).fill(Number.POSITIVE_INFINITY);
  for (const { name, quota } of limits) {
    const none = quota.maxConcurrentAllocations === 0;
    allowed[tenants.indexOf(name)] = none ? 0 : (quota.maxNodes ?? Number.POSITIVE_INFINITY);
  }
  return allowed;
}

function largestJob({ inventory, profiles }: LatticeSetup, ask: JobRequest | null): number {
  const vcluster = ask?.vcluster ?? profiles[0]?.vcluster ?? null;
  const constraints = ask?.constraints ?? NO_CONSTRAINTS;
  const nodes = inventory.nodes.filter(({ homeVCluster }) => homeVCluster === null || homeVCluster === vcluster);
  return largestFeasible(nodes.map(toNodeInput), constraints);
}

const toNodeInput = ({ topology, homeVCluster: _, ...node }: InventoryNode): NodeInput => ({
  ...node,
  ...topology,
  free: true,
  usable: true,
  notFreeBecause: "",
});
