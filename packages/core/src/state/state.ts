// The replicated state: tables of immutable records, a few counters, and indexes over them. It is
// a View for readers; only `apply` and `restore` use the rest. A record is replaced, never
// changed, so a reader may keep one as long as it likes.

import { type Grant, grantKey } from "../access/grant.ts";
import { createGrantIndex } from "../access/index-by-user.ts";
import type { Allocation } from "../allocation/allocation.ts";
import { isFinal } from "../allocation/phase.ts";
import type { AuditRecord } from "../audit/record.ts";
import type { Dag } from "../dag/dag.ts";
import { hasGroupEnded, type TaskGroup } from "../group/group.ts";
import {
  CHUNK_SIZE,
  chunkOf,
  elementState,
  heldMark,
  heldPositions,
  type MarkChunk,
  markKey,
  WAITING,
} from "../group/marks.ts";
import { positionOf, sizeOf } from "../group/range.ts";
import type { AllocationId, Instant, LogIndex, NodeId, UserName } from "../ids.ts";
import { duration, instant, logIndex } from "../ids.ts";
import { present } from "../invariant.ts";
import { type Bucket, bucketKey } from "../ledger/bucket.ts";
import { DEFAULT_NETWORK } from "../network/domain.ts";
import type { Claim, Node } from "../node/node.ts";
import { NO_LIMITS } from "../settings/limits.ts";
import { createChangeLog } from "./changes.ts";
import { lockKey } from "./flows.ts";
import { inOrder } from "./in-order.ts";
import { createIndexes, type Indexes } from "./indexes.ts";
import { createNewest } from "./newest.ts";
import { lookUp } from "./ordered.ts";
import { type AnsweredRequest, createTables, type Tables } from "./tables.ts";
import type { Retention, View } from "./view.ts";

export interface Counters {
  nextAllocation: number;
  nextRequest: number;
  nextFinished: number;
}

export interface State extends View {
  index: LogIndex;
  at: Instant;
  /** Of the newest kind of entry ever applied: programs that do not understand it must not go on from here. */
  version: number;
  retention: Retention;
  readonly counters: Counters;
  readonly tables: Tables;
  readonly indexes: Indexes;
  putAllocation(record: Allocation): void;
  /** From a snapshot, in order of id: without judging it again. */
  loadAllocation(record: Allocation): void;
  removeAllocation(id: AllocationId): void;
  putNode(record: Node): void;
  /** Nodes that changed in one thing: this claim, the only one, was taken on each of them (1) or given back (-1). */
  putClaimed(ids: readonly NodeId[], records: readonly Node[], claim: Claim, change: 1 | -1): void;
  putBucket(record: Bucket): void;
  dropBucket(record: Bucket): void;
  putGroup(record: TaskGroup): void;
  /** With its marks. */
  removeGroup(record: TaskGroup): void;
  /** The mark of one element. */
  mark(group: TaskGroup, position: number): string;
  putMarks(chunk: MarkChunk): void;
  putDag(record: Dag): void;
  removeDag(record: Dag): void;
  putGrant(record: Grant): void;
  removeGrant(record: Grant): void;
  /** At the end. */
  putAudit(record: AuditRecord): void;
  /** Another log takes its place. */
  dropAudit(): void;
  putRequest(record: AnsweredRequest): void;
  removeRequest(record: AnsweredRequest): void;
}

/** 10,000 records or a week, whichever ends first. */
export const DEFAULT_RETENTION: Retention = {
  maxFinished: 10_000,
  maxFinishedAge: duration(7 * 24 * 3600 * 1000),
};

export function createState(): State {
  const changes = createChangeLog();
  const tables = createTables(changes);
  const indexes = createIndexes((node) => tables.nodes.get(node)?.capabilities.gpuCount, changes.tenant);
  const answered = new Map<string, AnsweredRequest>();
  const grants = createGrantIndex();
  let lastAudit: AuditRecord | undefined;
  const counters: Counters = { nextAllocation: 1, nextRequest: 1, nextFinished: 1 };

  const newest = createNewest(
    (id) => tables.allocations.get(id),
    () => tables.allocations.size,
  );
  const allocationOf = (id: AllocationId): Allocation =>
    present(tables.allocations.get(id), `allocation ${id} is indexed but not stored`);
  const nodeOf = (id: NodeId): Node => present(tables.nodes.get(id), `node ${id} is indexed but not stored`);

  function finish(allocation: AllocationId): void {
    const n = counters.nextFinished;
    counters.nextFinished += 1;
    tables.finished.set(String(n), { n, allocation });
  }

  const markOf = (group: TaskGroup, position: number): string =>
    tables.marks.get(markKey(group.id, chunkOf(position)))?.marks[position % CHUNK_SIZE] ?? WAITING;

  return {
    index: logIndex(0),
    at: instant(0),
    version: 1,
    retention: DEFAULT_RETENTION,
    counters,
    tables,
    indexes,
    changes,

    allocation: (id) => tables.allocations.get(id),
    allocations: () => {
      const { elements } = indexes.flows;
      // The usual case costs nothing.
      if (elements.size === 0) return tables.allocations.values();
      return inOrder(tables.allocations.values(), lookUp(elements, allocationOf));
    },
    newest: (before) => newest.walk(before),
    get allocationCount() {
      return tables.allocations.size;
    },
    ofUser: (user) => lookUp(indexes.byUser.of(user), allocationOf),
    ofUserCount: (user) => indexes.byUser.of(user).size,
    pending: (vcluster) => lookUp(indexes.pending(vcluster), allocationOf),
    pendingCount: (vcluster) => indexes.pending(vcluster).size,
    highestPendingClass: (vcluster) => indexes.sharing.highestPendingClass(vcluster),
    awaiting: () => lookUp(indexes.sharing.awaiting, allocationOf),
    blocked: () => lookUp(indexes.flows.blocked, allocationOf),
    get blockedCount() {
      return indexes.flows.blocked.size;
    },
    held: () => lookUp(indexes.held, allocationOf),
    onHold: () => lookUp(indexes.onHold, allocationOf),
    get onHoldCount() {
      return indexes.onHold.size;
    },
    placed: () => lookUp(indexes.placed, allocationOf),
    get placedCount() {
      return indexes.placed.size;
    },
    get lowestPlacedClass() {
      return indexes.sharing.lowestPlacedClass;
    },
    node: (id) => tables.nodes.get(id),
    nodes: () => lookUp(indexes.nodes, nodeOf),
    get nodeCount() {
      return tables.nodes.size;
    },
    get freeNodeCount() {
      return indexes.freeNodeCount;
    },
    homeNodes: (vcluster) => indexes.sharing.homeNodes(vcluster),
    tenant: (id) => tables.tenants.get(id),
    tenants: () => tables.tenants.values(),
    usage: (tenant) => indexes.usage(tenant),
    claimedNodes: (vcluster) => indexes.claimedNodes(vcluster),
    ledger: indexes.accounts,
    vcluster: (id) => tables.vclusters.get(id),
    vclusters: () => tables.vclusters.values(),
    group: (id) => tables.groups.get(id),
    groups: () => tables.groups.values(),
    pendingElements: (group) => indexes.flows.pendingElements(group),
    restingElements: (group) => indexes.flows.restingElements(group),
    element(group, index) {
      const position = positionOf(group.range, index);
      return position === null ? null : elementState(markOf(group, position));
    },
    elementHold(group, index) {
      const position = positionOf(group.range, index);
      return position === null ? null : heldMark(markOf(group, position));
    },
    heldElements: ({ id, range }, as) =>
      heldPositions(sizeOf(range), as, (chunk) => tables.marks.get(markKey(id, chunk))?.marks),
    mutexHolder: (tenant, name) => indexes.flows.lock(lockKey(tenant, name))?.holder ?? null,
    dag: (id) => tables.dags.get(id),
    dags: () => tables.dags.values(),
    settings: () => tables.settings.values(),
    notice: (key) => tables.notices.get(key),
    notices: () => tables.notices.values(),
    get network() {
      return tables.network.get("settings") ?? DEFAULT_NETWORK;
    },
    get limits() {
      return tables.limits.get("limits") ?? NO_LIMITS;
    },
    domain: (key) => tables.domains.get(key),
    domains: () => tables.domains.values(),
    hooks: () => tables.hooks.values(),
    deliveries: () => tables.deliveries.values(),
    clearings: () => tables.clearings.values(),
    grants: () => tables.grants.values(),
    grantsOf: grants.of,
    secret: (name) => tables.secrets.get(name)?.value ?? null,
    earlierSecrets: (name) => tables.secrets.get(name)?.earlier ?? [],
    audit: () => tables.audit.values(),
    lastAudit: () => lastAudit,

    putAllocation(record) {
      const before = tables.allocations.get(record.id);
      if (before === undefined && record.element === undefined) newest.added(record.id);
      tables.allocations.set(record.id, record);
      indexes.allocationReplaced(before, record);
      const ended = isFinal(record.phase) && (before === undefined || !isFinal(before.phase));
      if (ended && indexes.claimCount(record.id) === 0) finish(record.id);
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
        if (isFinal(allocationOf(id).phase)) finish(id);
      }
    },
    putClaimed(ids, records, claim, change) {
      tables.nodes.setAll(ids, records);
      const left = indexes.claimReplaced(records, claim, change);
      if (left === 0 && isFinal(allocationOf(claim.allocation).phase)) finish(claim.allocation);
    },
    putBucket(record) {
      const key = bucketKey(record);
      indexes.accounts.bucketReplaced(tables.ledger.get(key), record);
      tables.ledger.set(key, record);
    },
    dropBucket(record) {
      indexes.accounts.bucketReplaced(record, undefined);
      tables.ledger.delete(bucketKey(record));
    },
    putGroup(record) {
      const before = tables.groups.get(record.id);
      tables.groups.set(record.id, record);
      indexes.flows.groupReplaced(before, record);
      if (hasGroupEnded(record.phase) && (before === undefined || !hasGroupEnded(before.phase))) finish(record.id);
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
    mark: markOf,
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
    putGrant(record) {
      tables.grants.set(grantKey(record), record);
      grants.put(record);
    },
    removeGrant(record) {
      tables.grants.delete(grantKey(record));
      grants.remove(record);
    },
    putAudit(record) {
      tables.audit.set(String(record.n), record);
      lastAudit = record;
    },
    dropAudit() {
      for (const key of [...tables.audit.keys()]) tables.audit.delete(key);
      lastAudit = undefined;
    },
    request: (user, requestId) => answered.get(requestKey(user, requestId)),
    putRequest(record) {
      tables.requests.set(String(record.n), record);
      answered.set(requestKey(record.user, record.requestId), record);
    },
    removeRequest(record) {
      tables.requests.delete(String(record.n));
      answered.delete(requestKey(record.user, record.requestId));
    },
  };
}

/** A user name holds no space, so the key is unambiguous. */
const requestKey = (user: UserName, requestId: string): string => `${user} ${requestId}`;
