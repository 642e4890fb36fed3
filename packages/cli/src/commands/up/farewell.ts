// What a stopped cluster leaves behind, and how to come back to it.

import type { LatticeClient } from "@lattice/sdk";
import { startedBy } from "./started-by.ts";

/** A server that does not answer by then does not hold up the stop. */
const COUNT_MS = 1_000;

/** How many allocations run now; null when the server does not say. */
export async function countRunning(client: LatticeClient): Promise<number | null> {
  try {
    const filter = { state: ["staging", "running"] as const, page_size: 1 };
    const { total, allocations = [] } = await client.list(filter, { signal: AbortSignal.timeout(COUNT_MS) });
    return total ?? allocations.length;
  } catch {
    return null;
  }
}

/** `kept` is the data directory; null: it was temporary and is gone. */
export function farewell(running: number | null, kept: string | null): string {
  if (kept === null) {
    return running === 0
      ? "Stopped. The temporary data was removed."
      : "Stopped. Running allocations were ended and the temporary data removed.";
  }
  const again = `\`${startedBy()} --data-dir ${kept}\``;
  if (running === null || running === 0) return `Stopped. The data is kept; ${again} goes on from there.`;
  const jobs = running === 1 ? "1 running allocation goes on" : `${running} running allocations go on`;
  return `Stopped. ${jobs}; ${again} picks ${running === 1 ? "it" : "them"} up.`;
}
