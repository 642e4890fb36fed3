// The messages of `lattice up`: the commands to try next, and the summary after a stop.

import type { LatticeClient } from "@lattice/sdk";
import { DEFAULT_URL } from "../../settings/settings.ts";
import type { ClusterDescription } from "./cluster-file.ts";

/** A server that does not respond must not delay the stop. */
const COUNT_MS = 1_000;

/** Returns the number of running allocations, or null when the server does not respond. */
export async function countRunning(client: LatticeClient): Promise<number | null> {
  try {
    const filter = { state: ["staging", "running"] as const, page_size: 1 };
    const { total, allocations = [] } = await client.list(filter, { signal: AbortSignal.timeout(COUNT_MS) });
    return total ?? allocations.length;
  } catch {
    return null;
  }
}

/** `kept` is the data directory, or null when it was temporary. */
export function stopSummary(running: number | null, kept: string | null): string {
  if (kept === null) {
    return running === 0
      ? "Stopped. The temporary data was removed."
      : "Stopped. Running allocations were ended and the temporary data removed.";
  }
  const again = `\`${startCommand()} --data-dir ${kept}\``;
  if (running === null || running === 0) return `Stopped. The data is kept; continue with ${again}.`;
  const jobs = running === 1 ? "1 allocation keeps running" : `${running} allocations keep running`;
  return `Stopped. ${jobs}; continue with ${again}.`;
}

/** For a cluster of root. */
export const USERS_NOTE =
  "Users of this machine are identified by their account: each job runs as its submitter, and only jobs of root as root.";

export const startCommand = (): string => (process.env.npm_lifecycle_event === "start" ? "npm start --" : "lattice up");

export function nextSteps({ url }: ClusterDescription): string {
  // After `npm start` the program is not on the PATH.
  const lattice = process.env.npm_lifecycle_event === undefined ? "lattice" : "npx lattice";
  const lines = [
    "",
    "The cluster runs until Ctrl-C. In another terminal, try:",
    "",
    ...(url === DEFAULT_URL ? [] : [`  export LATTICE_API_URL=${url}`]),
    `  ${lattice} nodes                                  the nodes`,
    `  ${lattice} submit --nodes=2 -- hostname           run a command on two nodes`,
    `  ${lattice} submit script.sh                       or a script with #LATTICE or #SBATCH lines`,
    `  ${lattice} status                                 your allocations`,
    `  ${lattice} logs ID --follow                       the output of one`,
    `  ${lattice} cancel ID                              end it`,
    "",
    `API: ${url}/api/v1/docs, for programs ${url}/api/v1/openapi.json`,
  ];
  return lines.join("\n");
}
