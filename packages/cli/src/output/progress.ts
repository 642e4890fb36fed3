// What is being waited for, while somebody watches: on a terminal, and neither with --quiet nor for a program.

import type { Context } from "../context.ts";
import { type Spinner, startSpinner } from "./spinner.ts";

const SILENT: Spinner = { update: () => {}, done: () => {}, stop: () => {} };

/** `work` may say how far it is. Nothing of it is left when it ends. */
export async function whileShown<T>(
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
