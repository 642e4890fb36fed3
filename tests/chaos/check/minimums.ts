// A run in which little happened proves little, so it fails.
import type { History } from "../history.ts";
import type { Violation } from "./check.ts";

export function checkLoad({ submissions, runs, log, faults, limits }: History): Violation[] {
  const have = {
    acknowledged: submissions.filter(({ id }) => id !== null).length,
    runs: runs.length,
    entries: log.length,
    faults: faults.length,
  };
  return (Object.keys(have) as (keyof typeof have)[])
    .filter((what) => have[what] < limits.least[what])
    .map((what) => ({ rule: "load", detail: `${what}: ${have[what]}, at least ${limits.least[what]} are needed` }));
}
