// Chooses the victims: the lowest classes first; within them one victim if one suffices, the cheapest first; else a
// few, the cheapest first, and if that fails the largest first. Victims that turn out unnecessary are dropped, the most
// expensive first.

import type { VictimCandidate } from "./filter.ts";

/** A candidate and how many nodes it would free for this allocation. */
export interface VictimGain extends VictimCandidate {
  readonly gained: number;
}

interface VictimSearch {
  /** In the order in which they would be stopped. */
  readonly gains: readonly VictimGain[];
  /** How many nodes are missing; a set that frees fewer is not tried. */
  readonly missing: number;
  readonly most: number;
  /** Tries the set on the draft and restores it. */
  readonly fits: (victims: readonly VictimGain[]) => boolean;
}

/** Returns `null` when no set within the limit suffices. */
export function findVictims(search: VictimSearch): readonly VictimGain[] | null {
  const classes = new Set(search.gains.map(({ victim }) => victim.preemptionClass));
  const tried = new Set<string>();
  for (const highest of [...classes].sort((a, b) => a - b)) {
    // Candidates of lower classes were tried alone before.
    const found = alone(
      search,
      search.gains.filter(({ victim }) => victim.preemptionClass === highest),
    );
    if (found !== null) return found;
    const gains = search.gains.filter(({ victim }) => victim.preemptionClass <= highest);
    const several = together(search, gains, tried) ?? together(search, largest(gains, search.most), tried);
    if (several !== null) return dropUnneeded(search, several);
  }
  return null;
}

function alone({ missing, fits }: VictimSearch, gains: readonly VictimGain[]): readonly VictimGain[] | null {
  const one = gains.find((gain) => gain.gained >= missing && fits([gain]));
  return one === undefined ? null : [one];
}

/** As few as free enough nodes, or, where those do not fit, as many as allowed. */
function together(
  search: VictimSearch,
  gains: readonly VictimGain[],
  tried: Set<string>,
): readonly VictimGain[] | null {
  const most = gains.slice(0, search.most);
  return atOnce(search, enough(most, search.missing), tried) ?? atOnce(search, most, tried);
}

function enough(gains: readonly VictimGain[], missing: number): readonly VictimGain[] {
  let gained = 0;
  const last = gains.findIndex((gain) => {
    gained += gain.gained;
    return gained >= missing;
  });
  return last < 0 ? [] : gains.slice(0, last + 1);
}

function atOnce(
  { missing, fits }: VictimSearch,
  taken: readonly VictimGain[],
  tried: Set<string>,
): readonly VictimGain[] | null {
  if (taken.length < 2 || gainOf(taken) < missing) return null;
  const names = taken.map(({ victim }) => victim.allocation).join(" ");
  if (tried.has(names)) return null;
  tried.add(names);
  return fits(taken) ? taken : null;
}

/** Returns how many nodes they free together. */
export const gainOf = (gains: readonly VictimGain[]): number => gains.reduce((sum, { gained }) => sum + gained, 0);

/** Returns the victims that free most, largest first, the cheaper of equals first. Few of many: faster than a sort. */
export function largest(gains: readonly VictimGain[], most: number): readonly VictimGain[] {
  const found: VictimGain[] = [];
  for (const gain of gains) {
    if (found.length === most && gain.gained <= (found.at(-1)?.gained ?? 0)) continue;
    let at = found.length;
    while (at > 0 && (found[at - 1] as VictimGain).gained < gain.gained) at -= 1;
    found.splice(at, 0, gain);
    if (found.length > most) found.pop();
  }
  return found;
}

function dropUnneeded({ gains, missing, fits }: VictimSearch, taken: readonly VictimGain[]): readonly VictimGain[] {
  const dearestFirst = [...taken].sort((a, b) => gains.indexOf(b) - gains.indexOf(a));
  let kept = taken;
  for (const gain of dearestFirst) {
    const fewer = kept.filter((other) => other !== gain);
    if (fewer.length > 0 && gainOf(fewer) >= missing && fits(fewer)) kept = fewer;
  }
  return kept;
}
