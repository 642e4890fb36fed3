// Reservations that outlive their cycle. The previous cycle's reservations are added before the walk, where their nodes
// will be available. Only an allocation of a higher class that is ahead in the queue displaces one; its owner then gets
// another in its turn. A reservation whose nodes are lost or late is replaced before any job gets its turn. Other
// vClusters' reservations on shared nodes stay untouched.

import { compareAllocationIds } from "@lattice/core";
import { bitsOf, intersects, isSubset } from "../base/bits.ts";
import { RESERVATION_LIMIT } from "../base/bounds.ts";
import { type Job, toJob } from "../fit/job.ts";
import type { CycleInput, PendingInput, Reservation } from "../input/cycle-input.ts";
import { indexById } from "../input/pending-order.ts";
import type { Quotas } from "../limits/quotas.ts";
import { nodeNumbersOf } from "../machine/node-ids.ts";
import { isFeasible } from "../place/feasibility.ts";
import { matchingBits } from "../place/supply.ts";
import type { Draft } from "../plan/draft.ts";
import type { PlannedReservation } from "../plan/planned-reservation.ts";
import type { Queue } from "../queue/queue.ts";
import { mayReserve } from "./kept-quota.ts";
import { addReservation, findReservation } from "./reserve.ts";

/** Adds other vClusters' reservations to the reserved intervals of the draft. */
export function addForeignReservations(draft: Draft, input: CycleInput): void {
  for (const reservation of input.foreignReservations ?? []) {
    const { startsAt, endsAt, nodes } = reservation;
    const end = endsAt ?? Number.POSITIVE_INFINITY;
    if (end <= draft.now) continue;
    draft.reservedIntervals.add({ startsAt, endsAt: end, nodes: nodeNumbersOf(draft.machine, nodes) });
    draft.foreignReservations.push(reservation);
    draft.hasForeignReservations = true;
  }
}

/** Returns the most reservations a plan may have. */
export const reservationDepth = ({ backfillDepth }: CycleInput): number => Math.min(backfillDepth, RESERVATION_LIMIT);

/** Adds the previous cycle's reservations to the draft; returns the owners of the ones it could not carry over. */
export function carryOverReservations(
  draft: Draft,
  input: CycleInput,
  { queue, quotas }: { readonly queue: Queue; readonly quotas: Quotas },
): Set<PendingInput> {
  const previous = input.previousReservations ?? [];
  const displaced = new Set<PendingInput>();
  if (previous.length === 0 || input.backfillDepth === 0) return displaced;
  const owners = indexesOfOwners(input.pending, previous, input.prepared !== undefined);
  const challengers = firstOfEachClass(input.pending, owners, queue);
  const lost: Job[] = [];
  for (const reservation of [...previous].sort(compareByStart)) {
    const owner = owners.get(reservation.allocation);
    const pending = owner === undefined ? undefined : input.pending[owner];
    if (owner === undefined || pending === undefined) continue;
    displaced.add(pending);
    if (draft.reservations.length >= reservationDepth(input)) continue;
    if (isChallenged(challengers, owner, pending, queue)) continue;
    const job = toJob(draft.machine, pending, input.signals);
    if (!isFeasible(draft.machine, job)) continue;
    const hasQuota =
      reservation.startsAt <= draft.now
        ? quotas.headroom(pending.tenant, job.nodesNeeded) > 0
        : quotas.isWithinLimits(pending.tenant, job.nodesNeeded);
    const planned = hasQuota ? carryOver(draft, job, reservation) : null;
    if (planned === null) {
      lost.push(job);
      continue;
    }
    addReservation(draft, planned);
    displaced.delete(pending);
  }
  for (const job of lost) replaceLost(draft, input, { job, quotas });
  return displaced;
}

/** Whether a job of a higher class is ahead of the owner in the queue. */
const isChallenged = (
  challengers: readonly number[],
  owner: number,
  { preemptionClass }: PendingInput,
  queue: Queue,
): boolean =>
  challengers.some(
    (challenger, ofClass) => ofClass > preemptionClass && challenger >= 0 && queue.compare(challenger, owner) < 0,
  );

/** The owner keeps its place among the reserved starts, with the earliest start that the others leave. */
function replaceLost(
  draft: Draft,
  input: CycleInput,
  { job, quotas }: { readonly job: Job; readonly quotas: Quotas },
): void {
  if (draft.reservations.length >= reservationDepth(input) || !mayReserve(draft, quotas, job)) return;
  const found = findReservation(draft, job);
  if (found !== null) addReservation(draft, found);
}

const compareByStart = (a: Reservation, b: Reservation): number =>
  a.startsAt - b.startsAt || compareAllocationIds(a.allocation, b.allocation);

/** The index in the input of each owner. Prepared queues are sorted by id, which saves the walk over the queue. */
function indexesOfOwners(
  pending: readonly PendingInput[],
  previous: readonly Reservation[],
  isSortedById: boolean,
): Map<string, number> {
  const indexes = new Map<string, number>();
  if (isSortedById) {
    for (const { allocation } of previous) {
      const at = indexById(pending, allocation);
      if (pending[at]?.id === allocation) indexes.set(allocation, at);
    }
    return indexes;
  }
  const owners = new Set<string>(previous.map(({ allocation }) => allocation));
  for (let at = 0; at < pending.length; at += 1) {
    const { id } = pending[at] as PendingInput;
    if (owners.has(id)) indexes.set(id, at);
  }
  return indexes;
}

/** By class, the index of the first job in the queue without a reservation; -1 when the class has none. */
function firstOfEachClass(
  pending: readonly PendingInput[],
  owners: ReadonlyMap<string, number>,
  queue: Queue,
): number[] {
  const first: number[] = [];
  const owned = [...owners.values()].sort((a, b) => a - b);
  let next = 0;
  for (let at = 0; at < pending.length; at += 1) {
    if (at === owned[next]) {
      next += 1;
      continue;
    }
    const { preemptionClass } = pending[at] as PendingInput;
    const known = first[preemptionClass];
    if (known === undefined || queue.compare(at, known) < 0) first[preemptionClass] = at;
  }
  return Array.from(first, (at) => at ?? -1);
}

/** The same nodes at the same start, or now when that has passed; `null` when a node is not available or no longer fits. */
function carryOver(draft: Draft, job: Job, reservation: Reservation): PlannedReservation | null {
  const nodes = nodeNumbersOf(draft.machine, reservation.nodes);
  const startsAt = reservation.startsAt > draft.now ? reservation.startsAt : draft.now;
  const endsAt = startsAt + job.occupancy;
  if (nodes.length !== reservation.nodes.length) return null;
  if (nodes.length < job.nodesNeeded || nodes.length > job.input.maxNodes) return null;
  // An unusable node is never available.
  for (let i = 0; i < nodes.length; i += 1) {
    if ((draft.availableFrom[nodes[i] as number] as number) > startsAt) return null;
  }
  const size = draft.availableFrom.length;
  const bits = bitsOf(nodes, size);
  for (const interval of draft.reservedIntervals.all()) {
    const overlaps = interval.startsAt < endsAt && interval.endsAt > startsAt;
    if (overlaps && intersects(bits, bitsOf(interval.nodes, size))) return null;
  }
  const { required, excluded, hardware } = job.match;
  if (hardware.size < draft.machine.usableCount && !isSubset(bits, matchingBits(draft.machine, hardware))) return null;
  if (excluded.size > 0 && nodes.some((node) => excluded.has(node))) return null;
  if (required === null || !required.every((node) => nodes.includes(node))) return null;
  if (draft.budgets !== null && draft.budgets.most(job, job.nodesNeeded, startsAt, endsAt) < job.nodesNeeded) {
    return null;
  }
  if (startsAt !== reservation.startsAt) return { job, startsAt, endsAt, nodes };
  return { job, startsAt, endsAt, nodes, carriedOver: reservation };
}
