// The nodes of a vCluster from cycle to cycle: as the cycle sees them, free or not, and when the busy ones
// come back. A list that is kept by whom it was handed to stays as it is, and so does one of other hardware: a
// change makes another, most of whose nodes are the same values, so that the floor made of them is quickly
// known again.

import type { Claim, Node, NodeId, VClusterId, View } from "@lattice/core";
import { isSameFloor } from "./machine/kinds.ts";
import type { NodeInput } from "./node-input.ts";
import { createReturning } from "./returning.ts";
import type { Returning } from "./returns.ts";
import { nodeInput, type Reachable, releaseOf } from "./snapshot-records.ts";

export interface KeptNodes {
  /** In order of id; `isKept`: the list will be read after the next change. */
  inputs(isKept: boolean): readonly NodeInput[];
  /** By place in that order: 1 where it can be had now. */
  readonly free: Uint8Array;
  /** By place: when its last claim ends by what was asked for; Infinity: never, or nobody knows. */
  readonly until: Float64Array;
  /** How many usable nodes come back when. */
  readonly returning: Returning;
  /** All of whose claims are on their way out. */
  readonly leaving: ReadonlySet<NodeId>;
  /** False when the nodes must be taken anew. */
  update(id: NodeId, view: View): boolean;
  /** When it comes back may have changed. */
  recount(id: NodeId, view: View): void;
  /** Asks again which idle nodes can be reached; null: all of them. */
  lookAround(reachable: Reachable | null): void;
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
  const until = new Float64Array(records.length).fill(Number.POSITIVE_INFINITY);
  const returning = createReturning();
  const leaving = new Set<NodeId>();
  let inputs = records.map((record) => nodeInput(record, always));
  /** What each was before it last became free or busy: mostly it becomes that again. */
  const twins = inputs.slice();
  /** Idle ones that cannot be reached. */
  let away = 0;

  let isOut = false;
  /** Into another list where this one is not to be changed. */
  function put(at: number, input: NodeInput): void {
    if (isOut || !isSameFloor(inputs[at] as NodeInput, input)) inputs = inputs.slice();
    isOut = false;
    inputs[at] = input;
  }
  function inputOf(at: number, record: Node): NodeInput {
    const before = records[at] as Node;
    const twin = twins[at] as NodeInput;
    twins[at] = inputs[at] as NodeInput;
    const isSame = before.capabilities === record.capabilities && before.state === record.state;
    const isThere = record.state.kind === "ready" && before.group === record.group;
    if (!isSame || !isThere || before.conformance !== record.conformance) return nodeInput(record, always);
    const because = record.claims.length === 0 ? "" : "busy";
    return twin.notFreeBecause === because && isSameFloor(twin, inputs[at] as NodeInput)
      ? twin
      : nodeInput(record, always);
  }
  function take(at: number, record: Node, from: View): void {
    const input = inputs[at] as NodeInput;
    if (idle[at] !== free[at]) away -= 1;
    records[at] = record;
    idle[at] = Number(input.free);
    free[at] = idle[at] as number;
    const instant = untilOf(from, record);
    setUntil(at, input.usable ? instant : Number.POSITIVE_INFINITY);
    if (instant === LEAVING) leaving.add(record.id);
    else if (leaving.size > 0) leaving.delete(record.id);
  }
  function setUntil(at: number, instant: number): void {
    const before = until[at] as number;
    if (before === instant) return;
    returning.count(before, -1);
    returning.count(instant, 1);
    until[at] = instant;
  }
  for (const [at, record] of records.entries()) take(at, record, view);

  return {
    inputs(isKept) {
      isOut = isOut || isKept;
      return inputs;
    },
    free,
    until,
    returning,
    leaving,
    update(id, from) {
      const record = from.node(id);
      const at = indexOf.get(id);
      if (record === undefined) return false;
      if (at === undefined) return !serves(record);
      if (!serves(record)) return false;
      put(at, inputOf(at, record));
      take(at, record, from);
      return true;
    },
    recount(id, from) {
      const at = indexOf.get(id);
      if (at !== undefined && inputs[at]?.usable === true) setUntil(at, untilOf(from, records[at] as Node));
    },
    lookAround(reachable) {
      if (reachable === null && away === 0) return;
      for (let at = 0; at < idle.length; at += 1) {
        if (idle[at] === 0) continue;
        const record = records[at] as Node;
        const now = reachable === null || reachable(record.id) ? 1 : 0;
        if (now === free[at]) continue;
        free[at] = now;
        away += now === 1 ? -1 : 1;
        put(at, nodeInput(record, now === 1 ? always : never));
      }
    },
  };
}

function untilOf(view: View, { claims }: Node): number {
  if (claims.length === 0) return Number.POSITIVE_INFINITY;
  let last = LEAVING;
  for (const claim of claims) if (!claim.releasing) last = Math.max(last, endOf(view, claim));
  return last;
}

function endOf(view: View, claim: Claim): number {
  const allocation = view.allocation(claim.allocation);
  const release = allocation === undefined ? null : releaseOf(allocation);
  return release === null ? LEAVING : (release.endsAt ?? Number.POSITIVE_INFINITY);
}
