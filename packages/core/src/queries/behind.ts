// Elements behind others of their group on one node: placements that start one after the other without the leader in
// between. The scheduler, which proposes them, and `apply`, which rechecks, share the rules. Only short, plain work on
// one whole node can wait there; everything else is placed when a node is free.

import type { Instant } from "../base/ids.ts";
import { after, duration, elementOf } from "../base/ids.ts";
import type { Allocation } from "../model/allocation/allocation.ts";
import { isPlaced } from "../model/allocation/phase.ts";
import type { TaskGroup } from "../model/group/group.ts";
import type { Claim, Node } from "../model/node/node.ts";
import type { AllocationSpec } from "../model/spec/spec.ts";
import { policyOf } from "../model/vcluster/policy.ts";
import type { View } from "../state/view.ts";

/** Claims on one node, the one in front included: the node record holds them all. */
const MAX_CLAIMS_IN_TURN = 48;
/** The run time of all elements behind the first, so that a node stays with a group for a moment only. */
const MAX_TURN_TIME = duration(500);
/** After its walltime an attempt gets SIGTERM and this long to end. */
const END_GRACE = duration(30_000);

/** Returns whether elements of this spec may wait behind each other. */
export function mayWaitBehind(view: View, { spec }: Pick<Allocation, "spec">): boolean {
  const vcluster = view.vcluster(spec.vcluster);
  if (vcluster === undefined || policyOf(vcluster).sensitive || policyOf(vcluster).sharesNodes) return false;
  return isPlain(spec);
}

function isPlain({ lifecycle, resources, checkpoint, session, networkDomain, probe }: AllocationSpec): boolean {
  const { minNodes, maxNodes, constraints } = resources;
  if (lifecycle.kind !== "bounded" || lifecycle.walltime === null || minNodes !== 1 || maxNodes !== 1) return false;
  // It may have started before its node was lost, and must not run twice.
  if (lifecycle.requeuePolicy === "never") return false;
  if (constraints.storageMBps !== undefined) return false;
  return checkpoint === undefined && session !== true && networkDomain === undefined && probe === undefined;
}

/** Returns how many elements may wait behind the first; 0 while the usual run time of the group is unknown or long. */
export function depthBehind({ usualTime }: TaskGroup): number {
  if (usualTime === undefined) return 0;
  return Math.min(MAX_CLAIMS_IN_TURN - 1, Math.floor(MAX_TURN_TIME / Math.max(1, usualTime)));
}

/** Returns why the element cannot wait behind the work on the node, as text; `null` when it can. */
export function behindRefusal(view: View, record: Allocation, { id, state, claims }: Node): string | null {
  if (!mayWaitBehind(view, record)) return `allocation ${record.id} takes a free node`;
  if (state.kind !== "ready") return `node "${id}" is ${state.kind}`;
  if (claims.length >= MAX_CLAIMS_IN_TURN) return `node "${id}" has ${claims.length} claims in turn`;
  const group = record.element?.group;
  const isBesideOwn = ({ exclusive, releasing, allocation }: Claim): boolean =>
    exclusive && !releasing && elementOf(allocation)?.group === group;
  if (group === undefined || claims.length === 0 || !claims.every(isBesideOwn))
    return `node "${id}" is not held by elements of the group of ${record.id}`;
  return null;
}

/** Returns when the last claim of the node ends at the latest; `null` without a bound. */
export function endOfTurns(view: View, { claims }: Node): Instant | null {
  const last = claims.at(-1);
  const record = last === undefined ? undefined : view.allocation(last.allocation);
  if (record === undefined || !isPlaced(record.phase)) return null;
  const { phase, spec } = record;
  const from = phase.kind === "staging" ? (phase.turnBy ?? phase.placedAt) : phase.startedAt;
  const { walltime } = spec.lifecycle;
  return walltime === null ? null : after(after(from, walltime), END_GRACE);
}
