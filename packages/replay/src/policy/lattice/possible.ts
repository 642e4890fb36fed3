// Which jobs the machine could ever run, by the predicate that decides: nodes of the job's vCluster that
// satisfy its constraints, as many as its tenant may have. The others would wait for ever, so they are dropped and
// counted.

import { ANYTHING, fits } from "@lattice/core";
import type { InventoryNode } from "../../inventory/inventory.ts";
import type { JobAsk } from "../../trace/ask.ts";
import { keepRows, type Trace } from "../../trace/trace.ts";
import type { LatticeSetup } from "./setup.ts";

export function possibleOn(trace: Trace, setup: LatticeSetup): Trace {
  const most = new Map<string, number>();
  const allowed = allowedBy(trace);
  const rows: number[] = [];
  for (let row = 0; row < trace.count; row += 1) {
    const ask = trace.asks?.[row] ?? null;
    const key = ask === null ? "" : JSON.stringify(ask);
    const matching = most.get(key) ?? matchingNodes(setup, ask);
    most.set(key, matching);
    const needed = Math.ceil((trace.size[row] as number) / setup.unit);
    const granted = Math.floor((allowed[trace.tenant[row] as number] as number) / setup.unit);
    if (needed <= Math.min(matching, granted)) rows.push(row);
  }
  if (rows.length === trace.count) return trace;
  const tooLarge = trace.dropped.tooLarge + trace.count - rows.length;
  return { ...keepRows(trace, rows), dropped: { ...trace.dropped, tooLarge } };
}

/** The most that one job of each tenant may ever have, in the trace's own unit. */
function allowedBy({ tenants, limits }: Trace): Float64Array {
  const allowed = new Float64Array(tenants.length).fill(Number.POSITIVE_INFINITY);
  for (const { name, quota } of limits) {
    const none = quota.maxConcurrentAllocations === 0;
    allowed[tenants.indexOf(name)] = none ? 0 : (quota.maxNodes ?? Number.POSITIVE_INFINITY);
  }
  return allowed;
}

function matchingNodes({ inventory, profiles }: LatticeSetup, ask: JobAsk | null): number {
  const vcluster = ask?.vcluster ?? profiles[0]?.vcluster ?? null;
  const constraints = ask?.constraints ?? ANYTHING;
  const { requiredNodes, requireConformance = false, topology, maxGroups } = constraints;
  const matching = inventory.nodes.filter(
    (node) =>
      (node.homeVCluster === null || node.homeVCluster === vcluster) &&
      fits(constraints, node.id, { ...node, ...node.beyond }),
  );
  if (!requiredNodes.every((id) => matching.some((node) => node.id === id))) return 0;
  const most = topology === "tight" ? 1 : (maxGroups ?? Number.POSITIVE_INFINITY);
  // All of one known fingerprint, where that is asked for.
  const alike = requireConformance
    ? [...countBy(matching, ({ conformance }) => conformance).keys()].filter((known) => known !== "")
    : [null];
  return Math.max(
    0,
    ...alike.map((known) =>
      inLargestGroups(
        matching.filter(({ conformance }) => known === null || conformance === known),
        most,
      ),
    ),
  );
}

function inLargestGroups(nodes: readonly InventoryNode[], most: number): number {
  const sizes = [...countBy(nodes, ({ group }) => group).values()].sort((a, b) => b - a);
  return sizes.slice(0, most).reduce((sum, size) => sum + size, 0);
}

function countBy(nodes: readonly InventoryNode[], keyOf: (node: InventoryNode) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const node of nodes) counts.set(keyOf(node), (counts.get(keyOf(node)) ?? 0) + 1);
  return counts;
}
