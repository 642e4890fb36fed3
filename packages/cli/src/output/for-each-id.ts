// Calls the server once per named object. After a rejection it continues with the next object; the rejections are
// reported at the end, and the exit status is that of the first one.

import { type Problem, ProblemError } from "@lattice/wire";
import { reportError, wantsJson } from "./report-error.ts";

/** Shown per group of equal errors: more would scroll the successes away. */
const MAX_SHOWN = 10;

interface ForEachResult<T> {
  readonly done: readonly T[];
  /** Reports the rejections and sets the exit status. Call it after printing the results. */
  finish(): void;
}

export async function forEachId<T>(ids: readonly string[], act: (id: string) => Promise<T>): Promise<ForEachResult<T>> {
  const done: T[] = [];
  const refused: Problem[] = [];
  for (const id of ids) {
    try {
      done.push(await act(id));
    } catch (error) {
      // A single object's error is the command's error; without a server all others would fail too.
      if (!(error instanceof ProblemError) || ids.length === 1 || error.problem.code === "connection_failed")
        throw error;
      refused.push(error.problem);
    }
  }
  return { done, finish: () => report(refused) };
}

/** Prints equal errors together, followed by one hint. */
function report(refused: readonly Problem[]): void {
  const [first] = refused;
  if (first === undefined) return;
  const argv = process.argv.slice(2);
  const statuses = wantsJson(argv)
    ? refused.map((problem) => reportError(ProblemError.of(problem), argv))
    : groupAlike(refused).flatMap((problems) => reportAlike(problems, argv));
  process.exitCode = statuses[0];
}

function reportAlike(problems: readonly Problem[], argv: readonly string[]): number[] {
  const shown = problems.slice(0, MAX_SHOWN);
  return shown.map((problem, i) => {
    const isLast = i === shown.length - 1;
    const more =
      isLast && problems.length > shown.length ? ` (and ${problems.length - shown.length} more like it)` : "";
    const detail = `${problem.detail}${more}`;
    return reportError(ProblemError.of({ ...problem, detail, hint: isLast ? problem.hint : "" }), argv);
  });
}

const groupAlike = (refused: readonly Problem[]): readonly (readonly Problem[])[] => {
  const grouped = new Map<string, Problem[]>();
  for (const problem of refused) {
    const key = `${problem.code} ${problem.hint}`;
    grouped.set(key, [...(grouped.get(key) ?? []), problem]);
  }
  return [...grouped.values()];
};
