// Reservations that outlive their cycle. What was promised is held again before anyone else is looked at,
// as far as it still can be: the nodes will be there and the quota leaves room. A promise gives way to an
// allocation of a higher class that goes first in the queue, and until its time has come to one that
// scores clearly more; it is then made anew when its owner's turn comes. Other vClusters' reservations on
// shared nodes are held untouched.

import { compareAllocationIds, type Instant, type NodeId } from "@lattice/core";
import { areWithin, bitsOf, haveCommon } from "./bits.ts";
import type { CycleInput, NodeInput, PendingInput, Reservation } from "./cycle-types.ts";
import type { Draft, Held } from "./draft.ts";
import { isPossible, type Job, jobOf } from "./job.ts";
import { PROMISE_MARGIN, RESERVATION_LIMIT } from "./limits.ts";
import { placeOf, type Queue } from "./order.ts";
import type { Ledger } from "./quota.ts";
import { hold } from "./reserve.ts";
import { fitting } from "./supply.ts";

/** Holds other vClusters' reservations. */
export function holdForeign(draft: Draft, input: CycleInput): void {
  for (const { startsAt, endsAt, nodes } of input.foreign ?? []) {
    const end = endsAt ?? Number.POSITIVE_INFINITY;
    if (end <= draft.now) continue;
    draft.holds.add({ startsAt, endsAt: end, nodes: numbersOf(draft, nodes) });
    draft.hasForeign = true;
  }
}

/** How many reservations a plan may have. */
export const depthOf = ({ backfillDepth }: CycleInput): number => Math.min(backfillDepth, RESERVATION_LIMIT);

/** Holds again what the cycle before promised; answers those whose promise could not be kept as it was. */
export function keepPromises(
  draft: Draft,
  input: CycleInput,
  { queue, ledger }: { queue: Queue; ledger: Ledger },
): Set<PendingInput> {
  const previous = input.previous ?? [];
  const lost = new Set<PendingInput>();
  if (previous.length === 0 || input.backfillDepth === 0) return lost;
  const places = placesOf(input.pending, previous, input.ground !== undefined);
  const challengers = firstOfEachClass(input.pending, places, queue);
  for (const promise of [...previous].sort(byStart)) {
    const at = places.get(promise.allocation);
    const pending = at === undefined ? undefined : input.pending[at];
    if (at === undefined || pending === undefined) continue;
    lost.add(pending);
    if (draft.held.length >= depthOf(input)) continue;
    const isDue = promise.startsAt <= draft.now;
    const pushed = (one: number, of: number): boolean =>
      of > pending.preemptionClass ? queue.compare(one, at) < 0 : !isDue && queue.lead(one, at) > PROMISE_MARGIN;
    if (challengers.some((one, of) => one >= 0 && pushed(one, of))) continue;
    const job = jobOf(draft.machine, pending, input.signals);
    if (ledger.headroom(pending.tenant, job.least) === 0 || !isPossible(draft.machine, job)) continue;
    const kept = keptAs(draft, job, promise);
    if (kept === null) continue;
    hold(draft, kept);
    lost.delete(pending);
  }
  return lost;
}

const byStart = (a: Reservation, b: Reservation): number =>
  a.startsAt - b.startsAt || compareAllocationIds(a.allocation, b.allocation);

/** Kept queues are in order of id. */
function placesOf(
  pending: readonly PendingInput[],
  previous: readonly Reservation[],
  isInOrder: boolean,
): Map<string, number> {
  const places = new Map<string, number>();
  if (isInOrder) {
    for (const { allocation } of previous) {
      const at = placeOf(pending, allocation);
      if (pending[at]?.id === allocation) places.set(allocation, at);
    }
    return places;
  }
  const owners = new Set<string>(previous.map((promise) => promise.allocation));
  for (let at = 0; at < pending.length; at += 1) {
    const { id } = pending[at] as PendingInput;
    if (owners.has(id)) places.set(id, at);
  }
  return places;
}

/** By class, the place of the first in the queue that has no promise; -1 where there is none. */
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

/** The promise on the same nodes at the same time; null when a node will not be there, or fits no longer. */
function keptAs(draft: Draft, job: Job, promise: Reservation): Held | null {
  const { startsAt, nodes } = promise;
  const numbers = numbersOf(draft, nodes);
  const from = Math.max(startsAt, draft.now);
  const endsAt = from + job.occupies;
  const { required, excluded } = job.match;
  if (numbers.length !== nodes.length || numbers.length < job.least || numbers.length > job.input.maxNodes) return null;
  // A node that is not usable never comes back.
  for (let i = 0; i < numbers.length; i += 1) {
    if ((draft.availableFrom[numbers[i] as number] as number) > from) return null;
  }
  const size = draft.availableFrom.length;
  const bits = bitsOf(numbers, size);
  for (const hold of draft.holds.all()) {
    if (hold.startsAt < endsAt && hold.endsAt > from && haveCommon(bits, bitsOf(hold.nodes, size))) return null;
  }
  const { hardware } = job.match;
  if (hardware.size < draft.machine.usableCount && !areWithin(bits, fitting(draft.machine, hardware))) return null;
  if (excluded.size > 0 && numbers.some((node) => excluded.has(node))) return null;
  if (required === null || !required.every((node) => numbers.includes(node))) return null;
  if (draft.budgets !== null && draft.budgets.most(job, job.least, from, endsAt) < job.least) return null;
  if (from === startsAt) return { job, startsAt, endsAt, nodes: numbers, promise };
  return { job, startsAt: from as Instant, endsAt, nodes: numbers };
}

/** Ascending; remembered, since lists of ids outlive cycles. */
export function numbersOf({ machine }: Draft, nodes: Reservation["nodes"]): readonly number[] {
  const known = remembered.get(nodes);
  if (known?.of === machine.indexOf) return known.numbers;
  const numbers = nodes.flatMap((id) => machine.indexOf.get(id) ?? []).sort((a, b) => a - b);
  remembered.set(nodes, { of: machine.indexOf, numbers });
  return numbers;
}

/** The ids of these nodes, which `numbersOf` will know again. */
export function nodeIdsOf({ machine }: Draft, numbers: readonly number[]): readonly NodeId[] {
  const nodes: NodeId[] = [];
  for (let i = 0; i < numbers.length; i += 1) nodes.push((machine.nodes[numbers[i] as number] as NodeInput).id);
  remembered.set(nodes, { of: machine.indexOf, numbers });
  return nodes;
}

const remembered = new WeakMap<readonly NodeId[], { readonly of: unknown; readonly numbers: readonly number[] }>();
