// The reservations that keep free nodes from an allocation, for its explanation: the ones that start before it would end,
// and how many nodes it could use they take. Counted once per match and number of reservations, since most pending
// allocations differ in neither.

import { addAll, bitsOf, countBits, intersects, keepOnly, putBit } from "../base/bits.ts";
import type { Job } from "../fit/job.ts";
import type { Match } from "../machine/match.ts";
import { matchingBits } from "../place/supply.ts";
import type { Draft } from "../plan/draft.ts";
import type { PlannedReservation } from "../plan/planned-reservation.ts";
import type { ReservedInterval } from "../plan/reserved-intervals.ts";
import { durationText } from "./text.ts";

export interface Blockers {
  /** Returns for example "3 of them reserved for 17 (starts in 5 min)"; `null` when no reservation is in the way. */
  text(job: Job): string | null;
}

/** Reservations named one by one; the rest is counted. */
const NAMED_LIMIT = 5;

export function createBlockers(draft: Draft): Blockers {
  const inOrder = [...draft.reservations].sort((a, b) => a.startsAt - b.startsAt);
  const owners = new Set(inOrder.map((reservation) => reservation.job.input.id));
  const known = new Map<Match, (string | null)[]>();
  const foreign = foreignIntervals(draft);
  return {
    text(job) {
      const endsAt = draft.now + job.occupancy;
      const before = inOrder.filter((reservation) => reservation.startsAt < endsAt);
      if (owners.has(job.input.id) || foreign.length > 0) {
        return textOf(
          draft,
          job,
          before.filter((reservation) => reservation.job.input.id !== job.input.id),
          foreign,
        );
      }
      const texts = known.get(job.match) ?? [];
      known.set(job.match, texts);
      const text = texts[before.length];
      if (text !== undefined) return text;
      const made = textOf(draft, job, before, foreign);
      texts[before.length] = made;
      return made;
    },
  };
}

/** Intervals reserved for other vClusters. */
function foreignIntervals(draft: Draft): readonly ReservedInterval[] {
  const own = new Set<ReservedInterval>(draft.reservations);
  return draft.reservedIntervals.all().filter((interval) => !own.has(interval));
}

function textOf(
  draft: Draft,
  job: Job,
  before: readonly PlannedReservation[],
  foreign: readonly ReservedInterval[],
): string | null {
  const { machine, free } = draft;
  const usable = matchingBits(machine, job.match.hardware).slice();
  keepOnly(usable, free);
  for (const node of job.match.excluded) putBit(usable, node, false);
  const reservedNodes = new Uint32Array(usable.length);
  const blocks = ({ nodes }: ReservedInterval): boolean => {
    const bits = bitsOf(nodes, machine.nodes.length);
    if (!intersects(bits, usable)) return false;
    addAll(reservedNodes, bits);
    return true;
  };
  const blockers = before
    .filter(blocks)
    .map(({ job: { input }, startsAt }) => `${input.id} (starts in ${durationText(startsAt - draft.now)})`);
  if (foreign.some((interval) => interval.startsAt < draft.now + job.occupancy && blocks(interval)))
    blockers.push("other vClusters");
  if (blockers.length === 0) return null;
  const more = blockers.length > NAMED_LIMIT ? ` and ${blockers.length - NAMED_LIMIT} more` : "";
  keepOnly(reservedNodes, usable);
  return `${countBits(reservedNodes)} of them reserved for ${blockers.slice(0, NAMED_LIMIT).join(", ")}${more}`;
}
