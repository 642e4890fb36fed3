// Where an attempt was placed, of one whose nodes came and went while it ran: what its record has is where it is now, and its notes say
// what was added and given up since. Read backwards they lead to where it began, so that the story of a service does not change while it
// is told. Notes that are no longer kept are not undone.

import type { PastNote } from "@lattice/core";

export interface Standing {
  readonly nodes: readonly string[];
  /** Of all, where only the first few are named. */
  readonly count: number;
  readonly attempt: number;
}

/** Entries of the log, both within; absent: not known, or not yet. */
export interface Stretch {
  readonly placed?: number;
  readonly ended?: number;
}

export function asPlaced(now: Standing, notes: readonly PastNote[], { placed, ended }: Stretch): Standing {
  if (placed === undefined) return now;
  const since = notes.filter(({ index = 0 }) => index >= placed && (ended === undefined || index <= ended));
  return since.reduceRight(undone, now);
}

/** Every node that is added is an attempt of its own. */
function undone(now: Standing, { kind, nodes: [node] = [] }: PastNote): Standing {
  if (node === undefined) return now;
  if (kind === "scaled_up") {
    return { nodes: now.nodes.filter((one) => one !== node), count: now.count - 1, attempt: now.attempt - 1 };
  }
  return kind === "scaled_down" ? { ...now, nodes: [...now.nodes, node], count: now.count + 1 } : now;
}
