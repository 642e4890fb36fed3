// Which jobs the machine could ever run, by the predicate that decides: nodes of the job's vCluster that
// satisfy its constraints, as many as its tenant may have. The others would wait for ever, so they are dropped and
// counted.

import { fits } from "@lattice/core";
import type { JobAsk } from "../../trace/ask.ts";
import { keepRows, type Trace } from "../../trace/trace.ts";
import { constraintsOf } from "./commands.ts";
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
  const constraints = constraintsOf(ask);
  const groups = new Map<string, number>();
  let all = 0;
  for (const node of inventory.nodes) {
    if (node.homeVCluster !== null && node.homeVCluster !== vcluster) continue;
    if (!fits(constraints, node.id, node)) continue;
    all += 1;
    groups.set(node.group, (groups.get(node.group) ?? 0) + 1);
  }
  return ask?.tight === true ? Math.max(0, ...groups.values()) : all;
}
