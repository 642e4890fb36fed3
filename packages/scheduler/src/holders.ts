// Who keeps free nodes from an allocation, for its explanation: the reservations that begin before it would
// be gone, and how many of the nodes it could use they hold. Counted once per kind of request and
// number of reservations, since most of those that wait differ in neither.

import type { Draft, Held } from "./draft.ts";
import { isFree } from "./draft.ts";
import { durationText } from "./explain/words.ts";
import type { Hold } from "./holds.ts";
import type { Job } from "./job.ts";
import type { Match } from "./machine/match.ts";

export interface Holders {
  /** For example "3 of them held for 17 (starts in 5 min)"; null when nobody is in the way. */
  text(job: Job): string | null;
}

/** Named one by one; the others are counted. */
const NAMED = 5;

export function createHolders(draft: Draft): Holders {
  const inOrder = [...draft.held].sort((a, b) => a.startsAt - b.startsAt);
  const owners = new Set(inOrder.map((held) => held.job.input.id));
  const known = new Map<Match, (string | null)[]>();
  const foreign = foreignHolds(draft);
  return {
    text(job) {
      const endsAt = draft.now + job.occupies;
      const before = inOrder.filter((held) => held.startsAt < endsAt);
      if (owners.has(job.input.id) || foreign.length > 0) {
        return textOf(
          draft,
          job,
          before.filter((held) => held.job.input.id !== job.input.id),
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

/** Held for other vClusters. */
function foreignHolds(draft: Draft): readonly Hold[] {
  const own = new Set<Hold>(draft.held);
  return draft.holds.all().filter((hold) => !own.has(hold));
}

function textOf(draft: Draft, job: Job, before: readonly Held[], foreign: readonly Hold[]): string | null {
  const { match } = job;
  const { ofNode, kindOf } = draft.machine.cells;
  const kept = new Set<number>();
  const isWanted = (node: number): boolean => {
    const cell = ofNode[node] as number;
    return isFree(draft, node) && match.kinds[kindOf[cell] as number] === 1 && !match.excluded.has(node);
  };
  const keeps = (hold: Hold): boolean => {
    const wanted = hold.nodes.filter(isWanted);
    for (const node of wanted) kept.add(node);
    return wanted.length > 0;
  };
  const holders = before
    .filter(keeps)
    .map(({ job: { input }, startsAt }) => `${input.id} (starts in ${durationText(startsAt - draft.now)})`);
  if (foreign.some((hold) => hold.startsAt < draft.now + job.occupies && keeps(hold))) holders.push("other vClusters");
  if (holders.length === 0) return null;
  const more = holders.length > NAMED ? ` and ${holders.length - NAMED} more` : "";
  return `${kept.size} of them held for ${holders.slice(0, NAMED).join(", ")}${more}`;
}
