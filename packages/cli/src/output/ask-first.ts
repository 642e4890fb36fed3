// Before a command ends work or removes something for good: a question on a terminal. Elsewhere what cannot be undone
// needs --yes, and what a script may well mean goes on without.

import { ProblemError } from "@lattice/wire";
import { confirm } from "./confirm.ts";

/** Throws unless it was asked for with --yes or answered with yes. */
export async function askFirst(yes: boolean | undefined, question: string, what: string): Promise<void> {
  if (yes === true || (await confirm(question))) return;
  throw new ProblemError("invalid_argument", {
    detail: `${what}: the question was not answered with yes`,
    hint: "Use --yes where nobody can answer.",
  });
}

/** As `askFirst`, for what scripts do too: one that named its target means it, a person may have meant another. */
export async function askOnTerminal(yes: boolean | undefined, question: string, what: string): Promise<void> {
  if (process.stdin.isTTY === true) await askFirst(yes, question, what);
}
