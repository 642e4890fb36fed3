// Reads a snapshot line by line into a new state. The state is valid only when the version is known, every line is
// present, and the state hash matches. Anything else is a SnapshotError, and the caller falls back to an older
// snapshot.

import { compareAllocationIds } from "../base/id-order.ts";
import { type AllocationId, instant, logIndex } from "../base/ids.ts";
import type { Enrolment } from "../model/access/enrolment.ts";
import type { Grant } from "../model/access/grant.ts";
import type { Secret } from "../model/access/secret.ts";
import type { Allocation } from "../model/allocation/allocation.ts";
import type { AuditKey } from "../model/audit/key.ts";
import type { AuditRecord } from "../model/audit/record.ts";
import type { CheckpointRemoval } from "../model/checkpoint/pending-removal.ts";
import type { ClusterIdentity } from "../model/cluster/identity.ts";
import type { Staged } from "../model/cluster/staged.ts";
import type { Dag } from "../model/dag/dag.ts";
import type { TaskGroup } from "../model/group/group.ts";
import type { MarkChunk } from "../model/group/marks.ts";
import type { Bucket } from "../model/ledger/bucket.ts";
import type { Domain, NetworkSettings } from "../model/network/domain.ts";
import type { Node } from "../model/node/node.ts";
import type { Delivery, Hook } from "../model/notice/hook.ts";
import type { Notice } from "../model/notice/notice.ts";
import type { ClusterLimits } from "../model/settings/limits.ts";
import type { Setting } from "../model/settings/setting.ts";
import type { Tenant } from "../model/tenant/tenant.ts";
import type { VCluster } from "../model/vcluster/vcluster.ts";
import { stateHash, warmStateHash } from "./hash.ts";
import { proveRestored, type RestoreProof } from "./restore-proof.ts";
import { SNAPSHOT_VERSION, type SnapshotFooter, type SnapshotHeader } from "./snapshot.ts";
import { createState, type State } from "./state.ts";
import type { HashText } from "./table.ts";
import type { AnsweredRequest, Finished } from "./tables.ts";

export class SnapshotError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SnapshotError";
  }
}

export interface Restore {
  line(text: string): void;
  /** Hashes up to `limit` records that have been read, so that finishing is quick. */
  warm(limit: number): void;
  finish(): State;
  /** For a caller that trusts the lines and cannot wait: the hash is verified in steps later. */
  finishEarly(): { readonly state: State; readonly proof: RestoreProof };
}

export function beginRestore(hash: HashText): Restore {
  const { state, line, complete } = readSnapshot();
  return {
    line,
    warm: (limit) => void warmStateHash(state, hash, limit),
    finish() {
      const { lines, expectedHash } = complete();
      const actual = guarded(lines, () => stateHash(state, hash));
      if (actual === expectedHash) return state;
      throw damaged(state.index);
    },
    finishEarly() {
      const { expectedHash } = complete();
      const { index } = state;
      return { state, proof: proveRestored(state, expectedHash, hash, () => damaged(index)) };
    },
  };
}

const damaged = (index: number): SnapshotError =>
  new SnapshotError(`the snapshot at index ${index} does not have its state hash: it is damaged`);

export interface SnapshotReader {
  /** Filled by the lines; valid once they are complete. */
  readonly state: State;
  line(text: string): void;
  /** Throws unless the last line was the footer. */
  complete(): { readonly state: State; readonly lines: number; readonly expectedHash: string };
}

/** Reads without verifying the hash, for a caller without a hash function. */
export function readSnapshot(): SnapshotReader {
  const state = createState();
  let lines = 0;
  let expectedHash: string | null = null;
  let complete = false;
  let newest: AllocationId | null = null;

  function read(text: string): void {
    if (complete) throw new SnapshotError(`the snapshot continues after its footer (line ${lines})`);
    if (expectedHash === null) {
      expectedHash = readHeader(state, text);
      return;
    }
    const cut = text.startsWith("{") ? -1 : text.indexOf(" ");
    if (cut < 0) {
      checkFooter(text, lines);
      complete = true;
      return;
    }
    const table = text.slice(0, cut);
    const record = JSON.parse(text.slice(cut + 1));
    if (table !== "allocations") {
      loadRecord(state, table, record, lines);
      return;
    }
    restoreAllocation(state, record as Allocation, newest, lines);
    newest = (record as Allocation).id;
  }

  return {
    state,
    line(text) {
      lines += 1;
      guarded(lines, () => read(text));
    },
    complete() {
      if (!complete || expectedHash === null) {
        throw new SnapshotError(`the snapshot ends without a footer after ${lines} lines`);
      }
      return { state, lines, expectedHash };
    },
  };
}

function readHeader(state: State, text: string): string {
  const header = JSON.parse(text) as Partial<SnapshotHeader> | null;
  if (typeof header !== "object" || header === null || typeof header.snapshot !== "number") {
    throw new SnapshotError("the text does not begin with a snapshot header");
  }
  if (header.snapshot > SNAPSHOT_VERSION) {
    throw new SnapshotError(
      `the snapshot has version ${header.snapshot}, but this program reads versions up to ${SNAPSHOT_VERSION}: ` +
        "upgrade this server before it can continue",
    );
  }
  const { index, at, counters, retention, stateHash: expected } = header;
  if (index === undefined || at === undefined || !counters || !retention || expected === undefined) {
    throw new SnapshotError("the snapshot header is incomplete");
  }
  state.index = logIndex(index);
  state.at = instant(at);
  state.version = header.snapshot;
  state.retention = retention;
  Object.assign(state.counters, counters);
  return expected;
}

function checkFooter(text: string, lines: number): void {
  const footer = JSON.parse(text) as Partial<SnapshotFooter> | null;
  if (footer?.lines === lines) return;
  throw new SnapshotError(`the snapshot has ${lines} lines where its footer has ${footer?.lines ?? "nothing"}`);
}

/** Puts records into tables and indexes without checks. */
export function loadRecord(state: State, table: string, record: unknown, line: number): void {
  const load = Object.hasOwn(LOADERS, table) ? LOADERS[table] : undefined;
  if (load === undefined) throw new SnapshotError(`line ${line} of the snapshot belongs to an unknown table`);
  load(state, record);
}

const LOADERS: Readonly<Record<string, (state: State, record: unknown) => void>> = {
  vclusters: (state, record) => state.tables.vclusters.set((record as VCluster).id, record as VCluster),
  tenants: (state, record) => state.tables.tenants.set((record as Tenant).id, record as Tenant),
  nodes: (state, record) => restoreNode(state, record as Node),
  allocations: (state, record) => loadAllocation(state, record as Allocation),
  requests: (state, record) => state.putRequest(record as AnsweredRequest),
  finished: (state, record) => state.tables.finished.set(String((record as Finished).n), record as Finished),
  staging: (state, record) => state.tables.staging.set(String((record as Staged).n), record as Staged),
  ledger: (state, record) => state.putBucket(record as Bucket),
  groups: (state, record) => loadGroup(state, record as TaskGroup),
  marks: (state, record) => state.putMarks(record as MarkChunk),
  dags: (state, record) => state.putDag(record as Dag),
  settings: (state, record) => state.tables.settings.set((record as Setting).key, record as Setting),
  notices: (state, record) => state.tables.notices.set((record as Notice).key, record as Notice),
  domains: (state, record) => state.tables.domains.set((record as Domain).key, record as Domain),
  network: (state, record) => state.tables.network.set("settings", record as NetworkSettings),
  limits: (state, record) => state.tables.limits.set("limits", record as ClusterLimits),
  identity: (state, record) => state.tables.identity.set("cluster", record as ClusterIdentity),
  hooks: (state, record) => state.tables.hooks.set((record as Hook).name, record as Hook),
  deliveries: (state, record) => state.tables.deliveries.set((record as Delivery).key, record as Delivery),
  clearings: (state, record) =>
    state.tables.clearings.set((record as CheckpointRemoval).allocation, record as CheckpointRemoval),
  grants: (state, record) => state.putGrant(record as Grant),
  enrolments: (state, record) => state.tables.enrolments.set((record as Enrolment).id, record as Enrolment),
  secrets: (state, record) => state.tables.secrets.set((record as Secret).name, record as Secret),
  audit: (state, record) => state.putAudit(record as AuditRecord),
  auditKeys: (state, record) => state.tables.auditKeys.set((record as AuditKey).id, record as AuditKey),
};

function restoreNode(state: State, node: Node): void {
  state.tables.nodes.set(node.id, node);
  state.indexes.nodeReplaced(undefined, node);
}

function restoreAllocation(state: State, record: Allocation, before: AllocationId | null, line: number): void {
  // Iteration in order of id relies on the records arriving in that order.
  if (before !== null && compareAllocationIds(before, record.id) >= 0) {
    throw new SnapshotError(`line ${line} of the snapshot is out of order`);
  }
  loadAllocation(state, record);
}

/** Not counted as finished again: that has its own table. */
function loadGroup(state: State, record: TaskGroup): void {
  state.tables.groups.set(record.id, record);
  state.indexes.flows.groupReplaced(undefined, record);
}

function loadAllocation(state: State, record: Allocation): void {
  state.loadAllocation(record);
}

/** Damaged text causes various errors: invalid JSON, missing fields, wrong types. */
function guarded<T>(line: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof SnapshotError) throw error;
    throw new SnapshotError(`line ${line} of the snapshot is not readable: ${String(error)}`);
  }
}
