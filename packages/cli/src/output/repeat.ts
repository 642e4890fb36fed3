// Repeats a view until Ctrl-C. Redraws in place on a terminal; elsewhere appends.

import { ProblemError } from "@lattice/wire";
import type { Printer } from "./printer.ts";

const REFRESH_MS = 5_000;

export async function repeatOnScreen(print: Printer, round: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  const { sleep } = await import("@lattice/sdk");
  while (!stop.signal.aborted) {
    if (process.stdout.isTTY === true) process.stdout.write("\u001b[2J\u001b[H");
    try {
      await round();
    } catch (error) {
      // A restarting server is back by the next round.
      if (!(error instanceof ProblemError) || !error.problem.retryable) throw error;
      print.note(error.problem.detail);
    }
    await sleep(REFRESH_MS, stop.signal).catch(() => {});
  }
}
