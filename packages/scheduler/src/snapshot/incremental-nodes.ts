// The nodes of a vCluster, maintained across cycles: their records, which are free, and when busy ones are released. A
// list that a recorded cycle keeps is never changed, nor is one of other hardware: a change copies it. Most of its
// elements stay the same objects, so that the hardware index is quickly recognised.

import type { Claim, Node, NodeId, VClusterId, View } from "@lattice/core";
import { hasBit, putBit, wordsFor } from "../base/bits.ts";
import type { NodeInput } from "../input/node-input.ts";
import type { ReleaseTally } from "../input/releases.ts";
import { FREE } from "../machine/availability.ts";
import { isSameHardware } from "../machine/kinds.ts";
import { createReleaseTally } from "../machine/release-tally.ts";
import { type IsReachable, nodeInput, releaseOf } from "./records.ts";

export interface IncrementalNodes {
  /** Returns the nodes sorted by id; `isRecorded`: the list is read after the next change. */
  inputs(isRecorded: boolean): readonly NodeInput[];
  /** By index: one bit for each free node. */
  readonly free: Uint32Array;
  /** By index: 0 when free, else the planned end of its last claim; Infinity when unknown. */
  readonly releasedAt: Float64Array;
  /** How many usable nodes are released at which instant. */
  readonly releaseTally: ReleaseTally;
  /** Nodes whose claims are all being released. */
  readonly leaving: ReadonlySet<NodeId>;
  /** Returns false when the nodes must be built from scratch. */
  update(ids: Iterable<NodeId>, view: View): boolean;
  /** Updates the releases of nodes whose claims may end at another time. */
  updateReleases(ids: Iterable<NodeId>, view: View): void;
  /** Updates which idle nodes are reachable; `null` when all are. */
  updateReachability(reachable: IsReachable | null): void;
}

/** A node whose claims are being released is always overdue. */
const LEAVING = 0;

const always: IsReachable = () => true;
const never: IsReachable = () => false;

export function createIncrementalNodes(view: View, vcluster: VClusterId): IncrementalNodes {
  const serves = servedBy(vcluster);
  const records = [...view.nodes()].filter(serves);
  const indexOf = new Map(records.map(({ id }, at) => [id, at]));
  const idle = new Uint8Array(records.length);
  const free = new Uint32Array(wordsFor(records.length));
  const releasedAt = new Float64Array(records.length).fill(Number.POSITIVE_INFINITY);
  /** When its last claim ends, also of free nodes; Infinity when unbounded or unknown. */
  const until = new Float64Array(records.length).fill(Number.POSITIVE_INFINITY);
  const releaseTally = createReleaseTally();
  const leaving = new Set<NodeId>();
  const claimEnds = createClaimEnds();
  let inputs = records.map((record) => nodeInput(record, always));
  /** The record of each node before it last became free or busy: mostly it becomes that again. */
  const twins = inputs.slice();
  /** How many idle nodes are unreachable. */
  let away = 0;

  let isShared = false;
  /** Replaces a record, in a copy of the list where the list must not change. */
  function put(at: number, input: NodeInput, isSame = isSameHardware(inputs[at] as NodeInput, input)): void {
    if (isShared || !isSame) inputs = inputs.slice();
    isShared = false;
    inputs[at] = input;
  }
  function renew(at: number, record: Node): void {
    const twin = twins[at] as NodeInput;
    const current = inputs[at] as NodeInput;
    twins[at] = current;
    if (isStillTrue(twin, records[at] as Node, record) && isSameHardware(twin, current)) put(at, twin, true);
    else put(at, nodeInput(record, always));
  }
  function take(at: number, record: Node, view: View): void {
    const input = inputs[at] as NodeInput;
    if ((idle[at] === 1) !== hasBit(free, at)) away -= 1;
    records[at] = record;
    idle[at] = Number(input.free);
    putBit(free, at, input.free);
    const instant = claimEnds.of(record, view);
    setUntil(at, input.usable ? instant : Number.POSITIVE_INFINITY);
    releasedAt[at] = input.free ? FREE : (until[at] as number);
    if (instant === LEAVING) leaving.add(record.id);
    else if (leaving.size > 0) leaving.delete(record.id);
  }
  function setUntil(at: number, instant: number): void {
    if (until[at] === instant) return;
    releaseTally.add(until[at] as number, -1);
    releaseTally.add(instant, 1);
    until[at] = instant;
  }
  for (const [at, record] of records.entries()) take(at, record, view);

  return {
    inputs(isRecorded) {
      isShared = isShared || isRecorded;
      return inputs;
    },
    free,
    releasedAt,
    releaseTally,
    leaving,
    update(ids, view) {
      claimEnds.reset();
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
    updateReleases(ids, view) {
      claimEnds.reset();
      for (const id of ids) {
        const at = indexOf.get(id);
        if (at === undefined || inputs[at]?.usable !== true) continue;
        setUntil(at, claimEnds.of(records[at] as Node, view));
        if (!hasBit(free, at)) releasedAt[at] = until[at] as number;
      }
    },
    updateReachability(reachable) {
      if (reachable === null && away === 0) return;
      for (let at = 0; at < idle.length; at += 1) {
        if (idle[at] === 0) continue;
        const record = records[at] as Node;
        const now = reachable?.(record.id) ?? true;
        if (now === hasBit(free, at)) continue;
        putBit(free, at, now);
        releasedAt[at] = now ? FREE : (until[at] as number);
        away += now ? -1 : 1;
        put(at, nodeInput(record, now ? always : never));
      }
    },
  };
}

const servedBy =
  (vcluster: VClusterId) =>
  ({ homeVCluster }: Node): boolean =>
    homeVCluster === null || homeVCluster === vcluster;

/** Whether an earlier input describes the changed record: the node is ready, and free or busy as it was then. */
function isStillTrue(earlier: NodeInput, before: Node, record: Node): boolean {
  if (before.capabilities !== record.capabilities || before.state !== record.state) return false;
  if (before.group !== record.group || before.conformance !== record.conformance) return false;
  return record.state.kind === "ready" && earlier.notFreeBecause === (record.claims.length === 0 ? "" : "busy");
}

/** Nodes of one allocation share one list of claims, whose end is computed once while nothing changes. */
function createClaimEnds() {
  let claims: Node["claims"] | null = null;
  let end = LEAVING;
  return {
    reset(): void {
      claims = null;
    },
    of(record: Node, view: View): number {
      if (record.claims !== claims) end = endOfAllClaims(view, record);
      claims = record.claims;
      return end;
    },
  };
}

function endOfAllClaims(view: View, { claims }: Node): number {
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
