// The number of nodes of a local cluster: as requested, else as in the last run of the data directory, because
// allocations may still run on those nodes.

import { readFileSync, writeFileSync } from "node:fs";
import type { DataDirLayout } from "./layout.ts";

/** Each node is a process. Use more machines, or `lattice-agent --hollow`, for more. */
export const MAX_NODES = 64;
export const DEFAULT_NODES = 4;

export function chooseNodeCount({ settingsFile, temporary }: DataDirLayout, requested: number | undefined): number {
  const count = requested ?? remembered(settingsFile) ?? DEFAULT_NODES;
  if (!temporary) writeFileSync(settingsFile, `${JSON.stringify({ nodes: count })}\n`);
  return count;
}

/** Returns null for a missing or damaged file. */
function remembered(path: string): number | null {
  try {
    const { nodes } = JSON.parse(readFileSync(path, "utf8")) as { readonly nodes?: unknown };
    return typeof nodes === "number" && Number.isInteger(nodes) && nodes >= 1 && nodes <= MAX_NODES ? nodes : null;
  } catch {
    return null;
  }
}
