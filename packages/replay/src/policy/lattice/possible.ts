// Which jobs the machine could ever run, by the predicate that decides: nodes of the job's vCluster that
// satisfy its constraints. The others would wait for ever, so they are dropped and counted.

import { fits } from "@lattice/core";
import type { JobAsk } from "../../trace/ask.ts";
import { keepRows, type Trace } from "../../trace/trace.ts";
import { constraintsOf } from "./commands.ts";
import type { LatticeSetup } from "./setup.ts";

export function possibleOn(trace: Trace, setup: LatticeSetup): Trace {
  const most = new Map<string, number>();
  const rows: number[] = [];
  for (let row = 0; row < trace.count; row += 1) {
    const ask = trace.asks?.[row] ?? null;
    const key = ask === null ? "" : JSON.stringify(ask);
    const matching = most.get(key) ?? matchingNodes(setup, ask);
    most.set(key, matching);
    if (Math.ceil((trace.size[row] as number) / setup.unit) <= matching) rows.push(row);
  }
  if (rows.length === trace.count) return trace;
  const tooLarge = trace.dropped.tooLarge + trace.count - rows.length;
  return { ...keepRows(trace, rows), dropped: { ...trace.dropped, tooLarge } };
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
