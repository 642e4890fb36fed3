// What happens when nobody reads our output any more: a pipe is closed, or the terminal is gone. For
// most commands that is a normal end. A command with more to do than to print lives on without output.

let outlives = false;

/** `lattice logs 7 | head` closes our output early. */
export function endOnClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.off("error", onError).on("error", onError);
}

/** From now on, what cannot be written is dropped. */
export function outliveClosedOutput(): void {
  outlives = true;
}

function onError(error: NodeJS.ErrnoException): void {
  if (outlives) return;
  // EIO: the terminal was closed.
  if (error.code === "EPIPE" || error.code === "EIO") process.exit(0);
  throw error;
}
