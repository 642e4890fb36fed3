// Handles a closed standard output: `lattice logs 7 | head` closes the pipe, a closed terminal does the same.
// Most commands then end with status 0. A command that does more than print continues without output.

import { closeSync } from "node:fs";
import { isatty } from "node:tty";

let ignoresClosedOutput = false;

/** Makes the program end with status 0 when its output is closed. */
export function endOnClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.off("error", onError).on("error", onError);
  const terminals = [0, 1, 2].filter(isatty);
  // Node restores the modes of its terminals when it ends, and aborts if one is gone; it skips closed descriptors.
  if (terminals.length > 0) process.once("exit", () => terminals.forEach(closeIfGone));
}

function closeIfGone(terminal: number): void {
  try {
    if (!isatty(terminal)) closeSync(terminal);
  } catch {
    // Closed already, which is as good.
  }
}

/** Drops output that cannot be written, from now on. */
export function ignoreClosedOutput(): void {
  ignoresClosedOutput = true;
}

function onError(error: NodeJS.ErrnoException): void {
  if (ignoresClosedOutput) return;
  // EIO means that the terminal was closed.
  if (error.code === "EPIPE" || error.code === "EIO") process.exit(0);
  throw error;
}
