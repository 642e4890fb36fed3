// Asks for confirmation before a command ends work or deletes something. Without a terminal, an action that
// cannot be undone needs --yes; an action that scripts use regularly proceeds.

import { ProblemError } from "@lattice/wire";

/** Throws unless --yes was given or the user answers yes. Without a terminal the answer is no. */
export async function requireConfirmation(yes: boolean | undefined, question: string, what: string): Promise<void> {
  if (yes === true || (await confirm(question))) return;
  throw new ProblemError("invalid_argument", {
    detail: `${what}: not confirmed`,
    hint: "Repeat the command with --yes.",
  });
}

/** Asks on a terminal only: a script that names its target means it, a person may have mistyped. */
export async function confirmOnTerminal(yes: boolean | undefined, question: string, what: string): Promise<void> {
  if (process.stdin.isTTY === true) await requireConfirmation(yes, question, what);
}

async function confirm(question: string): Promise<boolean> {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) return false;
  const { createInterface } = await import("node:readline/promises");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
