// One call for each thing that a command names. A refusal of one does not save the others: it is
// reported, the rest goes on, and the exit status is that of the first refusal.

import { type Problem, ProblemError } from "@lattice/wire";
import { reportError, wantsJson } from "../output/report-error.ts";

/** Of what is refused alike; more would scroll away what was done. */
const MOST_SHOWN = 10;

export interface Outcome<T> {
  readonly done: readonly T[];
  /** Reports the refusals and sets the exit status; to be called after what was done is shown. */
  finish(): void;
}

export async function forEachId<T>(ids: readonly string[], act: (id: string) => Promise<T>): Promise<Outcome<T>> {
  const done: T[] = [];
  const refused: Problem[] = [];
  for (const id of ids) {
    try {
      done.push(await act(id));
    } catch (error) {
      // Alone, it is the outcome of the command; and without a server the others fail alike.
      if (!(error instanceof ProblemError) || ids.length === 1 || error.problem.code === "connection_failed")
        throw error;
      refused.push(error.problem);
    }
  }
  return { done, finish: () => report(refused) };
}

/** What is refused alike is followed by one hint. */
function report(refused: readonly Problem[]): void {
  const [first] = refused;
  if (first === undefined) return;
  const argv = process.argv.slice(2);
  const statuses = wantsJson(argv)
    ? refused.map((problem) => reportError(ProblemError.of(problem), argv))
    : alike(refused).flatMap((those) => reportAlike(those, argv));
  process.exitCode = statuses[0];
}

function reportAlike(those: readonly Problem[], argv: readonly string[]): number[] {
  const shown = those.slice(0, MOST_SHOWN);
  return shown.map((problem, i) => {
    const isLast = i === shown.length - 1;
    const more = isLast && those.length > shown.length ? ` (and ${those.length - shown.length} more like it)` : "";
    const detail = `${problem.detail}${more}`;
    return reportError(ProblemError.of({ ...problem, detail, hint: isLast ? problem.hint : "" }), argv);
  });
}

const alike = (refused: readonly Problem[]): readonly (readonly Problem[])[] => {
  const grouped = new Map<string, Problem[]>();
  for (const problem of refused) {
    const key = `${problem.code} ${problem.hint}`;
    grouped.set(key, [...(grouped.get(key) ?? []), problem]);
  }
  return [...grouped.values()];
};
