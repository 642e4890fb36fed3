// Handles a closed standard output: `lattice logs 7 | head` closes the pipe, a closed terminal does the same.
// Most commands then end with status 0. A command that does more than print continues without output.

let ignoresClosedOutput = false;

/** Makes the program end with status 0 when its output is closed. */
export function endOnClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.off("error", onError).on("error", onError);
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
