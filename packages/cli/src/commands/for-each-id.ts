// One call for each thing that a command names. A refusal of one does not save the others: it is
// reported, the rest goes on, and the exit status is that of the first refusal.

import { type Problem, ProblemError } from "@lattice/wire";
import { reportError } from "../output/report-error.ts";

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

function report(refused: readonly Problem[]): void {
  const argv = process.argv.slice(2);
  const statuses = refused.map((problem) => reportError(ProblemError.of(problem), argv));
  if (statuses[0] !== undefined) process.exitCode = statuses[0];
}
