// Waits for a change, for a limited time and until the signal aborts. Leaves no listener on the signal, which may
// live as long as the process.

import type { Notifier } from "../notifier.ts";

export async function waitWithin(changes: Notifier, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const stop = new AbortController();
  const end = (): void => stop.abort();
  const timer = setTimeout(end, ms);
  signal.addEventListener("abort", end);
  try {
    await changes.wait(stop.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}
