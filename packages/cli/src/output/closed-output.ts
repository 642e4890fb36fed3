// Handles a closed standard output: `lattice logs 7 | head` closes the pipe, a closed terminal does the same.
// Most commands then end with status 0. A command that does more than print continues without output.

import { closeSync } from "node:fs";
import { isatty } from "node:tty";

let ignoresClosedOutput = false;

const STREAMS = [0, 1, 2];
/** The standard streams that were terminals at the start. */
let terminals: readonly number[] = [];

/** Makes the program end with status 0 when its output is closed. */
export function endOnClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.off("error", onError).on("error", onError);
  terminals = STREAMS.filter((fd) => isatty(fd));
  process.off("exit", leaveClosedTerminals).on("exit", leaveClosedTerminals);
}

/**
 * Node restores the modes of its terminals when it ends, and aborts if one of them was closed meanwhile. It skips
 * descriptors that are closed.
 */
function leaveClosedTerminals(): void {
  for (const fd of terminals.filter((one) => !isatty(one))) {
    try {
      closeSync(fd);
    } catch {
      // Closed already, which is as good.
    }
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
