// The cluster that this server belongs to, in a file of its data folder outside of the log. A log of another cluster, or
// an empty log where a cluster was, is refused: a server must never start a second cluster by accident.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Applied,
  type ClusterIdentity,
  isClusterId,
  judgeIdentity,
  type KnownIdentity,
  type View,
} from "@lattice/core";

const FILE = "cluster.json";

export class ClusterMismatchError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ClusterMismatchError";
  }
}

/** A restore replaces the identity that the log began with, and a replay of the log meets that one first. */
type StoredIdentity = KnownIdentity & { readonly former: readonly string[] };

export interface OwnCluster {
  stored(): KnownIdentity | null;
  /**
   * Throws a ClusterMismatchError when the log is of another cluster; stores the identity otherwise. An identity from
   * before a restore of this log changes nothing.
   */
  meet(identity: ClusterIdentity): void;
  /** Throws a ClusterMismatchError when this server belongs to a cluster: its log must not be empty. */
  refuseEmptyLog(): void;
}

/** Throws when the file is damaged. */
export function openOwnCluster(dataDir: string): OwnCluster {
  const path = join(dataDir, FILE);
  let stored = readStored(path);
  return {
    stored: () => stored,
    meet(identity) {
      if (stored?.id === identity.id && stored.generation === identity.generation) return;
      if (stored?.former.includes(identity.id)) return;
      const verdict = judgeIdentity(stored, identity).kind;
      if (verdict === "foreign")
        throw new ClusterMismatchError(
          `this server belongs to cluster ${stored?.id}, and its log to cluster ${identity.id}: check quorum.data_dir and quorum.peers; to move the server to that cluster, give it an empty server.data_dir`,
        );
      if (verdict === "outdated")
        throw new ClusterMismatchError(
          `the log is older than the restore of a backup that this server took part in (generation ${identity.generation}, not ${stored?.generation}): join the restored cluster with an empty server.data_dir and --join`,
        );
      stored = { id: identity.id, generation: identity.generation, former: identity.former };
      writeFileSync(`${path}.tmp`, `${JSON.stringify(stored)}\n`, { mode: 0o600 });
      renameSync(`${path}.tmp`, path);
    },
    refuseEmptyLog() {
      if (stored === null) return;
      throw new ClusterMismatchError(
        `this server belongs to cluster ${stored.id}, but its log is empty: start it on its old data, join again with --join after \`lattice admin raft remove-member\`, or restore a backup with --recover-from; for a new cluster, delete ${path}`,
      );
    },
  };
}

interface ClusterWatch {
  /** Compares the identity in the log with the stored one. Cheap while it does not change. */
  readonly meet: (identity: ClusterIdentity | null) => void;
  readonly refuseEmptyLog: () => void;
}

/** Passes every mismatch to `expel` before it throws. */
export function watchCluster(own: OwnCluster, expel: (error: Error) => void): ClusterWatch {
  let met: ClusterIdentity | null = null;
  const orExpel = (check: () => void): void => {
    try {
      check();
    } catch (error) {
      if (error instanceof ClusterMismatchError) expel(error);
      throw error;
    }
  };
  return {
    meet(identity) {
      if (identity === null || identity === met) return;
      orExpel(() => own.meet(identity));
      met = identity;
    },
    refuseEmptyLog: () => orExpel(own.refuseEmptyLog),
  };
}

/**
 * Returns the first listener of the replica. Nothing of a log reaches `keep`, which outlives the log, before the log is
 * known to be of this server's cluster.
 */
export const keepingOwn =
  (watch: Pick<ClusterWatch, "meet">, ...keep: readonly ((applied: Applied) => void)[]) =>
  (applied: Applied, view: Pick<View, "identity">): void => {
    watch.meet(view.identity);
    for (const one of keep) one(applied);
  };

function readStored(path: string): StoredIdentity | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  const { id, generation, former = [] } = JSON.parse(text) as Partial<StoredIdentity>;
  if (typeof id !== "string" || !isClusterId(id) || typeof generation !== "number" || !Array.isArray(former))
    throw new ClusterMismatchError(`${path} is damaged: it must name the cluster of this server`);
  return { id, generation, former };
}
