// Shortens a failing run: it ends right after the violation, then excludes unneeded faults, many kinds at once first.
// Every candidate is a whole run, so the printed command really fails.

import { FAULT_KINDS } from "./faults/faults.ts";
import { type RunOptions, simulate } from "./run.ts";
import type { Violation } from "./world/world.ts";

const MINUTE_MS = 60_000;

export async function shrink(run: RunOptions, violation: Violation, say: (text: string) => void): Promise<RunOptions> {
  const { onNote: _, ...quiet } = run;
  let best: RunOptions = quiet;
  // The part before the end is identical, and the end takes longer than all the rest.
  const toTheEnd = violation.atMs > run.minutes * MINUTE_MS;
  const fails = async (candidate: RunOptions): Promise<boolean> => {
    say(`trying ${replayCommand(candidate)}`);
    return (await simulate({ ...candidate, toTheEnd })).violation?.rule === violation.rule;
  };
  for (const minutes of lengths(violation, run.minutes)) {
    const shorter = { ...best, minutes };
    if (await fails(shorter)) {
      best = shorter;
      break;
    }
  }
  const kindsOf = ({ kinds = FAULT_KINDS }: RunOptions): readonly string[] => kinds;
  for (let size = Math.ceil(kindsOf(best).length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (const left of slices(kindsOf(best), size)) {
      const fewer = { ...best, kinds: kindsOf(best).filter((kind) => !left.includes(kind)) };
      if (await fails(fewer)) best = fewer;
    }
  }
  return best;
}

const slices = (kinds: readonly string[], size: number): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(kinds.length / size) }, (_, n) => kinds.slice(n * size, (n + 1) * size));

/** Halves first; a violation at the very end needs its whole time. */
function lengths({ atMs }: Violation, minutes: number): readonly number[] {
  const needed = Math.min(minutes, Math.ceil((atMs / MINUTE_MS) * 10) / 10);
  return [needed / 4, needed / 2, needed].map((one) => Math.max(0.1, Math.round(one * 10) / 10));
}

export function replayCommand({ seed, minutes, kinds = FAULT_KINDS, pace = 1, violate = null }: RunOptions): string {
  const left = FAULT_KINDS.filter((kind) => !kinds.includes(kind));
  const without =
    left.length === 0 ? "" : left.length === FAULT_KINDS.length ? " --no-faults" : ` --without ${left.join(",")}`;
  const length = minutes % 60 === 0 ? `--hours ${minutes / 60}` : `--minutes ${minutes}`;
  const asked = violate === null ? "" : ` --violate ${violate.kind}:${violate.times}`;
  return `npm run simulate -- --seed ${seed} ${length}${pace === 1 ? "" : ` --pace ${pace}`}${without}${asked}`;
}
