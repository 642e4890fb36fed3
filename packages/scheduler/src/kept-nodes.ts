// The nodes of a vCluster from cycle to cycle: as the cycle sees them, free or not, and when the busy ones
// come back. A list that is kept by whom it was handed to stays as it is, and so does one of other hardware: a
// change makes another, most of whose nodes are the same values, so that the floor made of them is quickly
// known again.

import type { Claim, Node, NodeId, VClusterId, View } from "@lattice/core";
import { hasBit, putBit, wordsFor } from "./bits.ts";
import { FREE } from "./machine/availability.ts";
import { isSameFloor } from "./machine/kinds.ts";
import type { NodeInput } from "./node-input.ts";
import { createReturning } from "./returning.ts";
import type { Returning } from "./returns.ts";
import { nodeInput, type Reachable, releaseOf } from "./snapshot-records.ts";

export interface KeptNodes {
  /** In order of id; `isKept`: the list will be read after the next change. */
  inputs(isKept: boolean): readonly NodeInput[];
  /** By place in that order: one bit for each that can be had now. */
  readonly free: Uint32Array;
  /** By place: 0 when it can be had, else when its last claim ends by what was asked for; Infinity: nobody knows. */
  readonly from: Float64Array;
  /** How many usable nodes come back when. */
  readonly returning: Returning;
  /** All of whose claims are on their way out. */
  readonly leaving: ReadonlySet<NodeId>;
  /** False when the nodes must be taken anew. */
  update(ids: Iterable<NodeId>, view: View): boolean;
  /** When they come back may have changed. */
  recount(ids: Iterable<NodeId>, view: View): void;
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
  const free = new Uint32Array(wordsFor(records.length));
  const from = new Float64Array(records.length).fill(Number.POSITIVE_INFINITY);
  /** When its last claim ends, also of those that are free; Infinity: never, or nobody knows. */
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
  function put(at: number, input: NodeInput, isAlike = isSameFloor(inputs[at] as NodeInput, input)): void {
    if (isOut || !isAlike) inputs = inputs.slice();
    isOut = false;
    inputs[at] = input;
  }
  function renew(at: number, record: Node): void {
    const before = records[at] as Node;
    const twin = twins[at] as NodeInput;
    twins[at] = inputs[at] as NodeInput;
    const isSame = before.capabilities === record.capabilities && before.state === record.state;
    const isThere = record.state.kind === "ready" && before.group === record.group;
    const because = record.claims.length === 0 ? "" : "busy";
    const isTwin = isSame && isThere && before.conformance === record.conformance && twin.notFreeBecause === because;
    if (isTwin && isSameFloor(twin, inputs[at] as NodeInput)) put(at, twin, true);
    else put(at, nodeInput(record, always));
  }
  function take(at: number, record: Node, view: View): void {
    const input = inputs[at] as NodeInput;
    if ((idle[at] === 1) !== hasBit(free, at)) away -= 1;
    records[at] = record;
    idle[at] = Number(input.free);
    putBit(free, at, input.free);
    const instant = endOfClaims(record, view);
    setUntil(at, input.usable ? instant : Number.POSITIVE_INFINITY);
    from[at] = input.free ? FREE : (until[at] as number);
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
  /** Nodes of one allocation hold the same list: worked out once while nothing changes. */
  let claims: Node["claims"] | null = null;
  let claimsEnd = LEAVING;
  function endOfClaims(record: Node, view: View): number {
    if (record.claims !== claims) claimsEnd = untilOf(view, record);
    claims = record.claims;
    return claimsEnd;
  }
  for (const [at, record] of records.entries()) take(at, record, view);

  return {
    inputs(isKept) {
      isOut = isOut || isKept;
      return inputs;
    },
    free,
    from,
    returning,
    leaving,
    update(ids, view) {
      claims = null;
      let last = -1;
      for (const id of ids) {
        const record = view.node(id);
        // Mostly the next in order.
        const at = records[last + 1]?.id === id ? last + 1 : indexOf.get(id);
        last = at ?? -1;
        if (record === undefined || serves(record) !== (at !== undefined)) return false;
        if (at === undefined) continue;
        renew(at, record);
        take(at, record, view);
      }
      return true;
    },
    recount(ids, view) {
      claims = null;
      for (const id of ids) {
        const at = indexOf.get(id);
        if (at === undefined || inputs[at]?.usable !== true) continue;
        setUntil(at, endOfClaims(records[at] as Node, view));
        if (!hasBit(free, at)) from[at] = until[at] as number;
      }
    },
    lookAround(reachable) {
      if (reachable === null && away === 0) return;
      for (let at = 0; at < idle.length; at += 1) {
        if (idle[at] === 0) continue;
        const record = records[at] as Node;
        const now = reachable === null || reachable(record.id);
        if (now === hasBit(free, at)) continue;
        putBit(free, at, now);
        from[at] = now ? FREE : (until[at] as number);
        away += now ? -1 : 1;
        put(at, nodeInput(record, now ? always : never));
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
