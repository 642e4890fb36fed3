// Which of the candidates to stop so that it fits: the fewest classes upwards, then one alone if one is
// enough, the cheapest first; else a few, cheapest first, or where that does not do the largest first.
// What was taken and not needed is handed back, the dearest first, so that no set holds one too many.

import type { Candidate } from "./filter.ts";

/** A candidate and how many nodes it would give to this allocation. */
export interface Gain extends Candidate {
  readonly gained: number;
}

export interface Search {
  /** In the order in which they would go. */
  readonly gains: readonly Gain[];
  /** Nodes that are missing; a set that gives fewer is not tried. */
  readonly missing: number;
  readonly most: number;
  /** Tries the set on the snapshot and puts it back. */
  readonly fits: (victims: readonly Gain[]) => boolean;
}

/** Null: no set of so many does. */
export function victimSet(search: Search): readonly Gain[] | null {
  const classes = new Set(search.gains.map(({ victim }) => victim.preemptionClass));
  const tried = new Set<string>();
  for (const highest of [...classes].sort((a, b) => a - b)) {
    // Those of lower classes have been tried one by one before.
    const found = alone(
      search,
      search.gains.filter(({ victim }) => victim.preemptionClass === highest),
    );
    if (found !== null) return found;
    const gains = search.gains.filter(({ victim }) => victim.preemptionClass <= highest);
    const several = together(search, gains, tried) ?? together(search, largestFirst(gains), tried);
    if (several !== null) return handBack(search, several);
  }
  return null;
}

function alone({ missing, fits }: Search, gains: readonly Gain[]): readonly Gain[] | null {
  const one = gains.find((gain) => gain.gained >= missing && fits([gain]));
  return one === undefined ? null : [one];
}

/** As few as give enough, or, where those are not the right ones, as many as may be. */
function together(search: Search, gains: readonly Gain[], tried: Set<string>): readonly Gain[] | null {
  const most = gains.slice(0, search.most);
  return atOnce(search, enough(most, search.missing), tried) ?? atOnce(search, most, tried);
}

function enough(gains: readonly Gain[], missing: number): readonly Gain[] {
  let gained = 0;
  const last = gains.findIndex((gain) => {
    gained += gain.gained;
    return gained >= missing;
  });
  return last < 0 ? [] : gains.slice(0, last + 1);
}

function atOnce({ missing, fits }: Search, taken: readonly Gain[], tried: Set<string>): readonly Gain[] | null {
  if (taken.length < 2 || gainOf(taken) < missing) return null;
  const names = taken.map(({ victim }) => victim.allocation).join(" ");
  if (tried.has(names)) return null;
  tried.add(names);
  return fits(taken) ? taken : null;
}

const gainOf = (gains: readonly Gain[]): number => gains.reduce((sum, { gained }) => sum + gained, 0);

/** Fewer and larger before many and small; a stable sort keeps the cheaper of equals first. */
const largestFirst = (gains: readonly Gain[]): readonly Gain[] => [...gains].sort((a, b) => b.gained - a.gained);

function handBack({ gains, missing, fits }: Search, taken: readonly Gain[]): readonly Gain[] {
  const dearestFirst = [...taken].sort((a, b) => gains.indexOf(b) - gains.indexOf(a));
  let kept = taken;
  for (const gain of dearestFirst) {
    const fewer = kept.filter((other) => other !== gain);
    if (fewer.length > 0 && gainOf(fewer) >= missing && fits(fewer)) kept = fewer;
  }
  return kept;
}
