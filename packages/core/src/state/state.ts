// The replicated state: tables of immutable records, a few counters, and indexes. It is a View for readers; only
// `apply` and `restore` use the rest. Records are replaced, never changed, so readers may keep them.

import type { AllocationId, Instant, LogIndex, NodeId, UserName } from "../base/ids.ts";
import { duration, instant, logIndex } from "../base/ids.ts";
import { present } from "../base/invariant.ts";
import { type Grant, grantKey } from "../model/access/grant.ts";
import type { Allocation } from "../model/allocation/allocation.ts";
import { isFinal } from "../model/allocation/phase.ts";
import type { AuditRecord } from "../model/audit/record.ts";
import type { Dag } from "../model/dag/dag.ts";
import { hasGroupEnded, type TaskGroup } from "../model/group/group.ts";
import { chunkOf, type MarkChunk, markKey } from "../model/group/marks.ts";
import { sizeOf } from "../model/group/range.ts";
import { type Bucket, bucketKey } from "../model/ledger/bucket.ts";
import { DEFAULT_NETWORK } from "../model/network/domain.ts";
import type { Claim, Node } from "../model/node/node.ts";
import { NO_LIMITS } from "../model/settings/limits.ts";
import { createChangeLog } from "./changes.ts";
import { createGrantIndex } from "./grants-by-user.ts";
import { createIndexes, type Indexes } from "./indexes.ts";
import { createNewest } from "./newest.ts";
import { createReaders } from "./readers.ts";
import { allocationIn, type Counters, markOf, type Store } from "./store.ts";
import { type AnsweredRequest, createTables, type Tables } from "./tables.ts";
import type { Retention, View } from "./view.ts";

export interface State extends View {
  index: LogIndex;
  at: Instant;
  /** Version of the newest kind of entry ever applied: a program that does not understand it must not continue. */
  version: number;
  retention: Retention;
  readonly counters: Counters;
  readonly tables: Tables;
  readonly indexes: Indexes;
  putAllocation(record: Allocation): void;
  /** Adds a record of a snapshot, in order of id, without checks. */
  loadAllocation(record: Allocation): void;
  removeAllocation(id: AllocationId): void;
  putNode(record: Node): void;
  /** Replaces nodes that differ in one claim only, taken (1) or released (-1) on each of them. */
  putClaimed(ids: readonly NodeId[], records: readonly Node[], claim: Claim, change: 1 | -1): void;
  putBucket(record: Bucket): void;
  dropBucket(record: Bucket): void;
  putGroup(record: TaskGroup): void;
  /** Removes a group with its marks. */
  removeGroup(record: TaskGroup): void;
  /** The mark of one element. */
  mark(group: TaskGroup, position: number): string;
  putMarks(chunk: MarkChunk): void;
  putDag(record: Dag): void;
  removeDag(record: Dag): void;
  putGrant(record: Grant): void;
  removeGrant(record: Grant): void;
  /** Appends a record. */
  putAudit(record: AuditRecord): void;
  /** Adds the signature of the oldest record without one. */
  signAudit(n: number, signed: Required<Pick<AuditRecord, "key" | "signature">>): void;
  /** Removes the oldest record. */
  leaveAudit(record: AuditRecord): void;
  /** Replaces the audit log. */
  dropAudit(): void;
  putRequest(record: AnsweredRequest): void;
  removeRequest(record: AnsweredRequest): void;
}

/** 10,000 records or a week, whichever comes first. */
const DEFAULT_RETENTION: Retention = {
  maxFinished: 10_000,
  maxFinishedAge: duration(7 * 24 * 3600 * 1000),
};

export function createState(): State {
  const changes = createChangeLog();
  const tables = createTables(changes);
  const indexes = createIndexes((node) => tables.nodes.get(node)?.capabilities.gpuCount, changes.tenant);
  const counters: Counters = { nextAllocation: 1, nextRequest: 1, nextFinished: 1 };
  const newest = createNewest(
    (id) => tables.allocations.get(id),
    () => tables.allocations.size,
  );
  const grants = createGrantIndex();
  const store: Store = { tables, indexes, counters, newest, grants };
  return {
    index: logIndex(0),
    at: instant(0),
    version: 1,
    retention: DEFAULT_RETENTION,
    counters,
    tables,
    indexes,
    changes,
    ...createReaders(store),
    ...createWorkWriters(store),
    ...createRecordWriters(store),
    get allocationCount() {
      return tables.allocations.size;
    },
    get blockedCount() {
      return indexes.flows.blocked.size;
    },
    get onHoldCount() {
      return indexes.onHold.size;
    },
    get placedCount() {
      return indexes.placed.size;
    },
    get lowestPlacedClass() {
      return indexes.sharing.lowestPlacedClass;
    },
    get nodeCount() {
      return tables.nodes.size;
    },
    get freeNodeCount() {
      return indexes.freeNodeCount;
    },
    get network() {
      return tables.network.get("settings") ?? DEFAULT_NETWORK;
    },
    get identity() {
      return tables.identity.get("cluster") ?? null;
    },
    get limits() {
      return tables.limits.get("limits") ?? NO_LIMITS;
    },
  };
}

/** Marks an allocation or a group as finished: it may leave the live state. */
function finish({ tables, counters }: Store, allocation: AllocationId): void {
  const n = counters.nextFinished;
  counters.nextFinished += 1;
  tables.finished.set(String(n), { n, allocation });
}

type WorkWriters = Pick<
  State,
  | "putAllocation"
  | "loadAllocation"
  | "removeAllocation"
  | "putNode"
  | "putClaimed"
  | "putGroup"
  | "removeGroup"
  | "mark"
  | "putMarks"
  | "putDag"
  | "removeDag"
>;

/** Writers of allocations, nodes, task groups and DAGs, which keep the indexes. */
function createWorkWriters(store: Store): WorkWriters {
  const { tables, indexes, newest } = store;
  const allocationOf = (id: AllocationId): Allocation => allocationIn(store, id);
  return {
    putAllocation(record) {
      const before = tables.allocations.get(record.id);
      if (before === undefined && record.element === undefined) newest.added(record.id);
      tables.allocations.set(record.id, record);
      indexes.allocationReplaced(before, record);
      const ended = isFinal(record.phase) && (before === undefined || !isFinal(before.phase));
      if (ended && indexes.claimCount(record.id) === 0) finish(store, record.id);
    },
    loadAllocation(record) {
      if (record.element === undefined && !tables.allocations.has(record.id)) newest.added(record.id);
      tables.allocations.set(record.id, record);
      indexes.allocationReplaced(undefined, record);
    },
    removeAllocation(id) {
      indexes.allocationReplaced(tables.allocations.get(id), undefined);
      tables.allocations.delete(id);
    },
    putNode(record) {
      const before = tables.nodes.get(record.id);
      tables.nodes.set(record.id, record);
      for (const id of indexes.nodeReplaced(before, record)) {
        if (isFinal(allocationOf(id).phase)) finish(store, id);
      }
    },
    putClaimed(ids, records, claim, change) {
      tables.nodes.setAll(ids, records);
      const left = indexes.claimReplaced(records, claim, change);
      if (left === 0 && isFinal(allocationOf(claim.allocation).phase)) finish(store, claim.allocation);
    },
    putGroup(record) {
      const before = tables.groups.get(record.id);
      tables.groups.set(record.id, record);
      indexes.flows.groupReplaced(before, record);
      if (hasGroupEnded(record.phase) && (before === undefined || !hasGroupEnded(before.phase)))
        finish(store, record.id);
    },
    removeGroup(record) {
      indexes.flows.groupReplaced(record, undefined);
      tables.groups.delete(record.id);
      for (let n = 0; n <= chunkOf(sizeOf(record.range) - 1); n += 1) {
        const key = markKey(record.id, n);
        indexes.flows.marksReplaced(tables.marks.get(key), undefined);
        tables.marks.delete(key);
      }
    },
    mark: (group, position) => markOf(tables, group, position),
    putMarks(chunk) {
      const key = markKey(chunk.group, chunk.n);
      indexes.flows.marksReplaced(tables.marks.get(key), chunk);
      tables.marks.set(key, chunk);
    },
    putDag(record) {
      indexes.dagReplaced(record);
      tables.dags.set(record.id, record);
    },
    removeDag(record) {
      indexes.dagRemoved(record);
      tables.dags.delete(record.id);
    },
  };
}

type RecordWriters = Pick<
  State,
  | "putBucket"
  | "dropBucket"
  | "putGrant"
  | "removeGrant"
  | "lastAudit"
  | "signedAudit"
  | "putAudit"
  | "signAudit"
  | "leaveAudit"
  | "dropAudit"
  | "request"
  | "requestsOf"
  | "putRequest"
  | "removeRequest"
>;

/** Writers of the ledger, grants, the audit log and answered requests. */
function createRecordWriters({ tables, indexes, grants }: Store): RecordWriters {
  const answered = new Map<string, AnsweredRequest>();
  /** By user, the oldest first. */
  const perUser = new Map<UserName, Set<AnsweredRequest>>();
  let lastAudit: AuditRecord | undefined;
  let signedAudit = 0;
  return {
    putBucket(record) {
      const key = bucketKey(record);
      indexes.accounts.bucketReplaced(tables.ledger.get(key), record);
      tables.ledger.set(key, record);
    },
    dropBucket(record) {
      indexes.accounts.bucketReplaced(record, undefined);
      tables.ledger.delete(bucketKey(record));
    },
    putGrant(record) {
      tables.grants.set(grantKey(record), record);
      grants.put(record);
    },
    removeGrant(record) {
      tables.grants.delete(grantKey(record));
      grants.remove(record);
    },
    lastAudit: () => lastAudit,
    signedAudit: () => signedAudit,
    putAudit(record) {
      // A restored log begins behind the archived records.
      if (tables.audit.size === 0) signedAudit = record.n - 1;
      if (record.signature !== undefined) signedAudit = record.n;
      tables.audit.set(String(record.n), record);
      lastAudit = record;
    },
    signAudit(n, signed) {
      const record = { ...present(tables.audit.get(String(n)), `audit record ${n} is not stored`), ...signed };
      tables.audit.set(String(n), record);
      signedAudit = n;
      if (lastAudit?.n === n) lastAudit = record;
    },
    leaveAudit({ n }) {
      tables.audit.delete(String(n));
      signedAudit = Math.max(signedAudit, n);
    },
    dropAudit() {
      for (const key of [...tables.audit.keys()]) tables.audit.delete(key);
      lastAudit = undefined;
      signedAudit = 0;
    },
    request: (user, requestId) => answered.get(requestKey(user, requestId)),
    requestsOf(user) {
      const own = perUser.get(user);
      return { count: own?.size ?? 0, oldest: own?.values().next().value };
    },
    putRequest(record) {
      tables.requests.set(String(record.n), record);
      answered.set(requestKey(record.user, record.requestId), record);
      const own = perUser.get(record.user) ?? new Set();
      perUser.set(record.user, own.add(record));
    },
    removeRequest(record) {
      tables.requests.delete(String(record.n));
      answered.delete(requestKey(record.user, record.requestId));
      const own = perUser.get(record.user);
      own?.delete(record);
      if (own?.size === 0) perUser.delete(record.user);
    },
  };
}

/** User names contain no space, so the key is unambiguous. */
const requestKey = (user: UserName, requestId: string): string => `${user} ${requestId}`;
