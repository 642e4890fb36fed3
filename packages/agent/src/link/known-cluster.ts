// The cluster that this node belongs to, and how much of its log the node has heard of. Both are stored in the data
// folder: after a restart, too, the node obeys only servers of its own cluster whose log is not behind. Work on the node
// is never ended or adopted on the word of another server.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isClusterId, judgeIdentity, type KnownIdentity } from "@lattice/core";
import type { pb } from "@lattice/wire";
import { type After, systemAfter } from "../base/after.ts";

const FILE = "cluster.json";
/** A higher index is stored at the latest after this time; an older one only makes the node less strict. */
const STORE_INDEX_MS = 1_000;

interface ClusterRefusal {
  readonly code: "server_foreign_cluster" | "server_behind";
  readonly detail: string;
}

export interface KnownCluster {
  /** For Hello. */
  facts(): Pick<pb.Hello, "clusterId" | "clusterGeneration" | "knownLogIndex">;
  /** Judges the server by its welcome and the index of that message. The first cluster is stored. */
  welcome(welcome: pb.Welcome, logIndex: number): ClusterRefusal | null;
  /** Judges a later message of the same server. */
  heard(logIndex: number): ClusterRefusal | null;
  close(): void;
}

interface Stored extends KnownIdentity {
  readonly logIndex: number;
}

/** `dataDir`: null for a node without data of its own, such as a simulated one. */
export const knownCluster = (dataDir: string | null, after: After = systemAfter): KnownCluster =>
  new StoredCluster(dataDir === null ? null : join(dataDir, FILE), after);

class StoredCluster implements KnownCluster {
  readonly #path: string | null;
  readonly #after: After;
  #stored: Stored | null;
  #cancelStore: (() => void) | null = null;

  constructor(path: string | null, after: After) {
    this.#path = path;
    this.#after = after;
    this.#stored = path === null ? null : readStored(path);
  }

  facts() {
    const { id, generation, logIndex } = this.#stored ?? { id: "", generation: 0, logIndex: 0 };
    return { clusterId: id, clusterGeneration: generation, knownLogIndex: logIndex };
  }

  welcome({ clusterId: id, clusterGeneration: generation, formerClusterIds: former }: pb.Welcome, logIndex: number) {
    // A server without an identity has not led yet; it sends no orders before it has one.
    if (!isClusterId(id)) return null;
    const verdict = judgeIdentity(this.#stored, { id, generation, former }).kind;
    if (verdict !== "same") return foreign(this.#stored?.id ?? "", id, verdict);
    if (this.#stored?.id === id && this.#stored.generation === generation) return this.heard(logIndex);
    this.#stored = { id, generation, logIndex };
    this.#store();
    return null;
  }

  heard(logIndex: number): ClusterRefusal | null {
    if (this.#stored === null) return null;
    if (logIndex < this.#stored.logIndex) {
      const detail = `the server has applied its log up to entry ${logIndex}, and this node knows entry ${this.#stored.logIndex}`;
      return { code: "server_behind", detail };
    }
    if (logIndex > this.#stored.logIndex) {
      this.#stored = { ...this.#stored, logIndex };
      if (this.#path !== null) this.#cancelStore ??= this.#after(STORE_INDEX_MS, () => this.#store());
    }
    return null;
  }

  close(): void {
    if (this.#cancelStore !== null) this.#store();
  }

  /** A full disk must not end the node: the file then has an older index. */
  #store(): void {
    this.#cancelStore?.();
    this.#cancelStore = null;
    if (this.#path === null) return;
    try {
      writeFileSync(`${this.#path}.tmp`, `${JSON.stringify(this.#stored)}\n`, { mode: 0o600 });
      renameSync(`${this.#path}.tmp`, this.#path);
    } catch {
      // Stored with the next change.
    }
  }
}

const foreign = (own: string, other: string, verdict: "foreign" | "outdated"): ClusterRefusal => ({
  code: "server_foreign_cluster",
  detail:
    verdict === "foreign"
      ? `the server belongs to cluster ${other}, this node to cluster ${own}; to move the node, stop the agent and give it an empty --data-dir`
      : "the server has not taken part in a restore of this cluster that this node has seen",
});

/** Throws when the file is damaged: the node must not join another cluster because of that. */
function readStored(path: string): Stored | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  const { id, generation, logIndex } = JSON.parse(text) as Partial<Stored>;
  if (typeof id !== "string" || !isClusterId(id) || typeof generation !== "number" || typeof logIndex !== "number")
    throw new Error(`${path} is damaged: it must name the cluster of this node`);
  return { id, generation, logIndex };
}
