// The nodes of a vCluster from cycle to cycle: as the cycle sees them, free or not, and when the busy ones
// come back. A list that was handed out stays as it is; a change makes another, most of whose nodes are the
// same values, so that the floor made of them is quickly known again.

import type { Node, NodeId, VClusterId, View } from "@lattice/core";
import type { NodeInput } from "./node-input.ts";
import { nodeInput, type Reachable, releaseOf } from "./snapshot-records.ts";

export interface KeptNodes {
  /** In order of id. */
  inputs(): readonly NodeInput[];
  /** By place in that order: 1 where it can be had now. */
  readonly free: Uint8Array;
  /** By place: when its last claim ends by what was asked for; Infinity: never, or nobody knows. */
  readonly until: Float64Array;
  /** All of whose claims are on their way out. */
  readonly leaving: ReadonlySet<NodeId>;
  /** False when the nodes must be taken anew. */
  update(id: NodeId, view: View): boolean;
  /** When it comes back may have changed. */
  recount(id: NodeId, view: View): void;
  /** Asks again which idle nodes can be reached. */
  lookAround(reachable: Reachable): void;
}

/** A node that is being left comes back soon: always overdue. */
const LEAVING = 0;

const always: Reachable = () => true;
const never: Reachable = () => false;

export function createKeptNodes(view: View, vcluster: VClusterId): KeptNodes {
  const serves = ({ homeVCluster }: Node): boolean => homeVCluster === null || homeVCluster === vcluster;
  const records = [...view.nodes()].filter(serves);
  const indexOf = new Map(records.map(({ id }, at) => [id, at]));
  const idle = new Uint8Array(records.length);
  const free = new Uint8Array(records.length);
  const until = new Float64Array(records.length);
  const leaving = new Set<NodeId>();
  let inputs = records.map((record) => nodeInput(record, always));

  let isOut = false;
  /** Into another list when this one has been handed out. */
  function put(at: number, input: NodeInput): void {
    if (isOut) inputs = inputs.slice();
    isOut = false;
    inputs[at] = input;
  }
  function take(at: number, record: Node): void {
    records[at] = record;
    idle[at] = Number((inputs[at] as NodeInput).free);
    free[at] = idle[at] as number;
    until[at] = untilOf(view, record);
    if (until[at] === LEAVING) leaving.add(record.id);
    else leaving.delete(record.id);
  }
  for (const [at, record] of records.entries()) take(at, record);

  return {
    inputs() {
      isOut = true;
      return inputs;
    },
    free,
    until,
    leaving,
    update(id, from) {
      const record = from.node(id);
      const at = indexOf.get(id);
      if (record === undefined) return false;
      if (at === undefined) return !serves(record);
      if (!serves(record)) return false;
      const input = nodeInput(record, always);
      put(at, input);
      take(at, record);
      return true;
    },
    recount(id, from) {
      const at = indexOf.get(id);
      if (at !== undefined) until[at] = untilOf(from, records[at] as Node);
    },
    lookAround(reachable) {
      for (let at = 0; at < idle.length; at += 1) {
        if (idle[at] === 0) continue;
        const record = records[at] as Node;
        const now = reachable(record.id) ? 1 : 0;
        if (now === free[at]) continue;
        free[at] = now;
        put(at, nodeInput(record, now === 1 ? always : never));
      }
    },
  };
}

function untilOf(view: View, { claims }: Node): number {
  if (claims.length === 0) return Number.POSITIVE_INFINITY;
  let last = LEAVING;
  for (const claim of claims) {
    if (claim.releasing) continue;
    const allocation = view.allocation(claim.allocation);
    const release = allocation === undefined ? null : releaseOf(allocation);
    last = Math.max(last, release === null ? LEAVING : (release.endsAt ?? Number.POSITIVE_INFINITY));
  }
  return last;
}
