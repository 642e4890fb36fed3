// A launch of the small program that broke off: it leaves it to the whole program to say how, and nothing is launched.

import { ProblemError, problemFromJson } from "@lattice/wire";

/** Throws what broke it. */
export function tellWhatBroke(event: string | undefined): void {
  if (event === undefined) return;
  const what = problemFromJson((JSON.parse(event) as { problem?: unknown }).problem, 0);
  throw new ProblemError(what.code, what);
}
