// Compares the states of servers at the entries that they have in common. Pure. Servers that have applied the same entry
// must have the same state hash; where they differ, the majority is right, and without one the leader, since clients and
// snapshots have its state.

import type { LogIndex } from "@lattice/core";
import type { StateMark } from "../state/replica/hash-series.ts";

export interface ServerState {
  readonly id: string;
  /** Oldest first. */
  readonly marks: readonly StateMark[];
}

export interface Divergence extends StateMark {
  /** The hash of the other servers. */
  readonly expected: string;
}

export interface Comparison {
  /** The newest entry at which a server was compared; servers without one are missing. */
  readonly compared: ReadonlyMap<string, LogIndex>;
  readonly diverged: ReadonlyMap<string, Divergence>;
}

/** `leader` is an id; `null` without a leader. */
export function compareStates(servers: readonly ServerState[], leader: string | null): Comparison {
  const compared = new Map<string, LogIndex>();
  const diverged = new Map<string, Divergence>();
  for (const [index, holders] of atCommonEntries(servers)) {
    if (holders.every(({ id }) => compared.has(id))) continue;
    const expected = rightHash(holders, leader);
    if (expected === null) continue;
    for (const { id, hash } of holders) {
      if (compared.has(id)) continue;
      compared.set(id, index);
      if (hash !== expected) diverged.set(id, { index, hash, expected });
    }
  }
  return { compared, diverged };
}

/** Returns the newest entry that all servers with hashes have in common; `null` without one. */
export function newestCommonEntry(servers: readonly ServerState[]): LogIndex | null {
  const withMarks = servers.filter(({ marks }) => marks.length > 0);
  const common = atCommonEntries(withMarks).find(([, holders]) => holders.length === withMarks.length);
  return common?.[0] ?? null;
}

interface Holder {
  readonly id: string;
  readonly hash: string;
}

/** The entries that at least two servers have recorded, newest first. */
function atCommonEntries(servers: readonly ServerState[]): readonly (readonly [LogIndex, readonly Holder[]])[] {
  const holders = new Map<LogIndex, Holder[]>();
  for (const { id, marks } of servers) {
    for (const { index, hash } of marks) {
      const at = holders.get(index);
      if (at === undefined) holders.set(index, [{ id, hash }]);
      else at.push({ id, hash });
    }
  }
  return [...holders].filter(([, each]) => each.length > 1).sort(([a], [b]) => b - a);
}

/** Returns `null` while it is not known which of them is right. */
function rightHash(holders: readonly Holder[], leader: string | null): string | null {
  const counts = new Map<string, number>();
  for (const { hash } of holders) counts.set(hash, (counts.get(hash) ?? 0) + 1);
  for (const [hash, count] of counts) if (count * 2 > holders.length) return hash;
  return holders.find(({ id }) => id === leader)?.hash ?? null;
}
