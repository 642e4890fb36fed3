// Waits for a bell, but no longer than so long and not beyond its signal. It leaves no listener on
// the signal, which may live as long as the process.

import type { Bell } from "../bell.ts";

export async function ringWithin(bell: Bell, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const stop = new AbortController();
  const end = (): void => stop.abort();
  const timer = setTimeout(end, ms);
  signal.addEventListener("abort", end);
  try {
    await bell.wait(stop.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}
