// The cluster that this node belongs to, and the newest entry of its log that the node has heard of, with its hash. Both
// are stored in the data folder: after a restart, too, the node obeys only servers of its own cluster whose log holds that
// entry. Work on the node is never ended or adopted on the word of another server.

import { closeSync, constants, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  compareLogs,
  isClusterId,
  judgeIdentity,
  type KnownIdentity,
  LOG_START,
  type LogPosition,
} from "@lattice/core";
import type { pb } from "@lattice/wire";
import { type After, systemAfter } from "../base/after.ts";

const FILE = "cluster.json";
/**
 * The newest entry since the cluster was stored, with the identity. Overwritten in place, because it changes with every
 * order: a replaced file would be flushed to disk each time. No work survives a crash of the machine, which alone could
 * tear the record.
 */
const INDEX_FILE = "cluster-index";
/** Longer than any record: a shorter one leaves nothing of the one before. */
const RECORD_LENGTH = 128;
/** An entry on which the node does not act is stored at the latest after this time. */
const STORE_INDEX_MS = 1_000;

interface ClusterRefusal {
  readonly code: "server_foreign_cluster" | "server_behind" | "server_log_differs" | "server_cluster_not_stored";
  readonly detail: string;
}

export interface KnownCluster {
  /** For Hello. */
  facts(): { readonly clusterId: string; readonly clusterGeneration: number; readonly knownLog: LogPosition };
  /** Judges the server by its welcome and the position of that message. Changes nothing. */
  judge(welcome: pb.Welcome, log: LogPosition): ClusterRefusal | null;
  /** Adopts the cluster of an accepted welcome. Durable when it returns; refused when the first cluster cannot be stored. */
  adopt(welcome: pb.Welcome, log: LogPosition): ClusterRefusal | null;
  /**
   * Judges a later message of the same server. `acts`: the node acts on the message, so that a later entry is stored
   * first. Else an agent that is killed and started again would obey a server that does not know of this message.
   */
  heard(log: LogPosition, acts: boolean): ClusterRefusal | null;
  close(): void;
}

interface Stored extends KnownIdentity {
  readonly log: LogPosition;
}

/** `dataDir`: null for a node without data of its own, such as a simulated one. */
export const knownCluster = (dataDir: string | null, after: After = systemAfter): KnownCluster =>
  new StoredCluster(dataDir, after);

class StoredCluster implements KnownCluster {
  readonly #dataDir: string | null;
  readonly #after: After;
  #stored: Stored | null;
  /** False after an identity could not be written; it is written with the next index. */
  #isIdentityWritten = true;
  #cancelStore: (() => void) | null = null;
  /** Of the index file, once it was written. */
  #indexFile: number | null = null;

  constructor(dataDir: string | null, after: After) {
    this.#dataDir = dataDir;
    this.#after = after;
    this.#stored = dataDir === null ? null : readStored(dataDir);
  }

  facts() {
    const { id, generation, log } = this.#stored ?? { id: "", generation: 0, log: LOG_START };
    return { clusterId: id, clusterGeneration: generation, knownLog: log };
  }

  judge(welcome: pb.Welcome, log: LogPosition): ClusterRefusal | null {
    const { clusterId: id, clusterGeneration: generation, formerClusterIds: former } = welcome;
    const stored = this.#stored;
    // A server of a version without identities; a node that has a cluster does not obey it.
    if (!isClusterId(id)) return stored === null ? null : unnamed(stored.id);
    const verdict = judgeIdentity(stored, { id, generation, former }).kind;
    if (verdict !== "same") return foreign(stored?.id ?? "", id, verdict);
    if (stored === null || !this.#isOwn(id, generation)) return null;
    return behind(stored.log, log) ?? differing(stored.log, welcome);
  }

  adopt({ clusterId: id, clusterGeneration: generation }: pb.Welcome, log: LogPosition): ClusterRefusal | null {
    if (!isClusterId(id)) return null;
    if (this.#isOwn(id, generation)) return this.heard(log, false);
    const before = this.#stored;
    this.#stored = { id, generation, log: copyOf(log) };
    this.#isIdentityWritten = false;
    const error = this.#storeIdentity();
    if (error === null || before !== null) return null;
    this.#stored = null;
    return { code: "server_cluster_not_stored", detail: `the cluster of this node cannot be stored: ${error.message}` };
  }

  heard(log: LogPosition, acts: boolean): ClusterRefusal | null {
    if (this.#stored === null) return null;
    const refusal = behind(this.#stored.log, log);
    if (refusal !== null) return refusal;
    if (log.index > this.#stored.log.index) {
      this.#stored = { ...this.#stored, log: copyOf(log) };
      if (this.#dataDir !== null) this.#cancelStore ??= this.#after(STORE_INDEX_MS, () => this.#storeIndex());
    }
    if (acts && this.#cancelStore !== null) this.#storeIndex();
    return null;
  }

  close(): void {
    if (this.#cancelStore !== null) this.#storeIndex();
    if (this.#indexFile !== null) closeSync(this.#indexFile);
    this.#indexFile = null;
  }

  #isOwn(id: string, generation: number): boolean {
    return this.#stored?.id === id && this.#stored.generation === generation;
  }

  /** Returns why the file could not be written. A full disk must not end the node. */
  #storeIdentity(): Error | null {
    this.#cancelStore?.();
    this.#cancelStore = null;
    if (this.#dataDir === null) return null;
    try {
      replaceFile(join(this.#dataDir, FILE), `${JSON.stringify(this.#stored)}\n`);
      this.#isIdentityWritten = true;
      return null;
    } catch (error) {
      return error as Error;
    }
  }

  /** An index that cannot be written is written with the next one. */
  #storeIndex(): void {
    this.#cancelStore?.();
    this.#cancelStore = null;
    if (this.#dataDir === null || this.#stored === null) return;
    if (!this.#isIdentityWritten && this.#storeIdentity() !== null) return;
    try {
      this.#indexFile ??= openSync(join(this.#dataDir, INDEX_FILE), constants.O_WRONLY | constants.O_CREAT, 0o600);
      const { id, generation, log } = this.#stored;
      const record = `${id} ${generation} ${log.index} ${log.hash}-${log.termHash}`;
      writeSync(this.#indexFile, record.padEnd(RECORD_LENGTH - 1).concat("\n"), 0);
    } catch {}
  }
}

function replaceFile(path: string, text: string): void {
  const file = openSync(`${path}.tmp`, "w", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.tmp`, path);
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Without the fields of a message. */
const copyOf = ({ index, hash, termHash }: LogPosition): LogPosition => ({ index, hash, termHash });

function behind(known: LogPosition, { index }: LogPosition): ClusterRefusal | null {
  if (index >= known.index) return null;
  const detail = `the server has applied its log up to entry ${index}, and this node knows entry ${known.index}`;
  return { code: "server_behind", detail };
}

function differing(known: LogPosition, { knownLog, logKeptFrom }: pb.Welcome): ClusterRefusal | null {
  const comparison = compareLogs(known, { ...copyOf(knownLog ?? LOG_START), keptFrom: logKeptFrom });
  if (comparison === "same") return null;
  const detail =
    comparison === "different"
      ? `entry ${known.index} of the server's log is not the entry that this node knows: the server runs on a copy of the log that went its own way`
      : `the server does not show that its log holds entry ${known.index}, which this node knows`;
  return { code: "server_log_differs", detail };
}

const unnamed = (own: string): ClusterRefusal => ({
  code: "server_foreign_cluster",
  detail: `the server names no cluster, and this node belongs to cluster ${own}: upgrade the server`,
});

const foreign = (own: string, other: string, verdict: "foreign" | "outdated"): ClusterRefusal => ({
  code: "server_foreign_cluster",
  detail:
    verdict === "foreign"
      ? `the server belongs to cluster ${other}, this node to cluster ${own}; to move the node, stop the agent and give it an empty --data-dir`
      : "the server has not taken part in a restore of this cluster that this node has seen",
});

/** Throws when the file of the identity is damaged: the node must not join another cluster because of that. */
function readStored(dataDir: string): Stored | null {
  const path = join(dataDir, FILE);
  const text = readIfPresent(path);
  if (text === null) return null;
  const { id, generation, log } = JSON.parse(text) as Partial<Stored>;
  if (typeof id !== "string" || !isClusterId(id) || typeof generation !== "number" || typeof log?.index !== "number")
    throw new Error(`${path} is damaged: it must name the cluster of this node`);
  const later = readIndex(dataDir, { id, generation });
  return { id, generation, log: later.index > log.index ? later : log };
}

/** Returns the start of the log when no entry was written since the cluster was stored. */
function readIndex(dataDir: string, own: KnownIdentity): LogPosition {
  const text = readIfPresent(join(dataDir, INDEX_FILE)) ?? "";
  const [, id, generation, index, hash = "", termHash = ""] =
    /^(\w+) (\d+) (\d+) ([0-9a-f]*)-([0-9a-f]*) *\n$/.exec(text) ?? [];
  const isOwn = id === own.id && Number(generation) === own.generation;
  return isOwn ? { index: Number(index), hash, termHash } : LOG_START;
}

function readIfPresent(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
