// Shows a spinner while a command waits: on a terminal, and neither with --quiet nor for structured output.

import type { Context } from "../context.ts";
import { type Spinner, startSpinner } from "./spinner.ts";

const SILENT: Spinner = { update: () => {}, done: () => {}, stop: () => {} };

/** Runs `work` and shows the spinner meanwhile; `work` may update its text. */
export async function withSpinner<T>(
  { print, settings }: Pick<Context, "print" | "settings">,
  text: string,
  work: (progress: Spinner) => Promise<T>,
): Promise<T> {
  const isWatched = process.stderr.isTTY === true && !settings.quiet && !print.structured;
  const progress = isWatched ? startSpinner(text) : SILENT;
  try {
    return await work(progress);
  } finally {
    progress.stop();
  }
}
