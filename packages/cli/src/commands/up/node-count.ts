// How many nodes a local cluster has: as asked for, else as many as its data directory had the last
// time, since allocations may still run on them.

import { readFileSync, writeFileSync } from "node:fs";
import type { Layout } from "./layout.ts";

/** Each node is a process of its own; more belong on more machines, or in `lattice-agent --hollow`. */
export const MOST_NODES = 64;
export const USUAL_NODES = 4;

export function chooseNodeCount({ settingsFile, temporary }: Layout, asked: number | undefined): number {
  const count = asked ?? remembered(settingsFile) ?? USUAL_NODES;
  if (!temporary) writeFileSync(settingsFile, `${JSON.stringify({ nodes: count })}\n`);
  return count;
}

/** A file that is absent or damaged remembers nothing. */
function remembered(path: string): number | null {
  try {
    const { nodes } = JSON.parse(readFileSync(path, "utf8")) as { readonly nodes?: unknown };
    return typeof nodes === "number" && Number.isInteger(nodes) && nodes >= 1 && nodes <= MOST_NODES ? nodes : null;
  } catch {
    return null;
  }
}
