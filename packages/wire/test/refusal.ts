// Runs something that must be refused, and gives the problem.

import { type Problem, ProblemError } from "../src/index.ts";

export async function refusal(run: () => unknown): Promise<Problem> {
  try {
    await run();
  } catch (error) {
    if (error instanceof ProblemError) return error.problem;
    throw error;
  }
  throw new Error("expected a refusal, but it was accepted");
}

/** "field: detail | hint" for each field, which reads well in a table. */
export const fieldLines = (problem: Problem): string[] =>
  problem.fields.map(({ field, detail, hint }) => `${field}: ${detail}${hint === undefined ? "" : ` | ${hint}`}`);
