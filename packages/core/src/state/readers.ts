// The functions of the view over the state. The counts of the view are getters of the state itself, since copying a getter
// would freeze its value.

import { compareAllocationIds } from "../base/id-order.ts";
import type { AllocationId } from "../base/ids.ts";
import { lookUp } from "../base/ordered.ts";
import type { Allocation } from "../model/allocation/allocation.ts";
import { elementState, heldMark, heldPositions, markKey } from "../model/group/marks.ts";
import { positionOf, sizeOf } from "../model/group/range.ts";
import { lockKey } from "./mutex-index.ts";
import { allocationIn, markOf, nodeIn, type Store } from "./store.ts";
import type { View } from "./view.ts";

type Readers = Pick<
  View,
  | "allocation"
  | "allocations"
  | "newest"
  | "ofUser"
  | "ofUserCount"
  | "phaseCount"
  | "pending"
  | "pendingCount"
  | "highestPendingClass"
  | "awaiting"
  | "blocked"
  | "held"
  | "onHold"
  | "placed"
  | "node"
  | "nodes"
  | "homeNodes"
  | "tenant"
  | "tenants"
  | "usage"
  | "claimedNodes"
  | "ledger"
  | "vcluster"
  | "vclusters"
  | "group"
  | "groups"
  | "pendingElements"
  | "restingElements"
  | "element"
  | "elementHold"
  | "heldElements"
  | "mutexHolder"
  | "dag"
  | "dags"
  | "settings"
  | "notice"
  | "notices"
  | "domain"
  | "domains"
  | "hooks"
  | "deliveries"
  | "clearings"
  | "grants"
  | "grantsOf"
  | "enrolments"
  | "enrolment"
  | "secret"
  | "earlierSecrets"
  | "audit"
  | "auditRecord"
  | "auditKeys"
  | "auditKey"
>;

/** The functions of the view. Its counts are getters of the state itself, since copying a getter would freeze its value. */
export function createReaders(store: Store): Readers {
  const { tables, indexes, newest, grants } = store;
  const allocationOf = (id: AllocationId): Allocation => allocationIn(store, id);
  return {
    allocation: (id) => tables.allocations.get(id),
    allocations: () => {
      const { elements } = indexes.flows;
      // Fast path.
      if (elements.size === 0) return tables.allocations.values();
      return inOrder(tables.allocations.values(), lookUp(elements, allocationOf));
    },
    newest: (before) => newest.walk(before),
    ofUser: (user) => lookUp(indexes.byUser.of(user), allocationOf),
    phaseCount: (kind) => indexes.phaseCounts.get(kind) ?? 0,
    ofUserCount: (user) => indexes.byUser.of(user).size,
    pending: (vcluster) => lookUp(indexes.pending(vcluster), allocationOf),
    pendingCount: (vcluster) => indexes.pending(vcluster).size,
    highestPendingClass: (vcluster) => indexes.sharing.highestPendingClass(vcluster),
    awaiting: () => lookUp(indexes.sharing.awaiting, allocationOf),
    blocked: () => lookUp(indexes.flows.blocked, allocationOf),
    held: () => lookUp(indexes.held, allocationOf),
    onHold: () => lookUp(indexes.onHold, allocationOf),
    placed: () => lookUp(indexes.placed, allocationOf),
    node: (id) => tables.nodes.get(id),
    nodes: () => lookUp(indexes.nodes, (id) => nodeIn(store, id)),
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
      return position === null ? null : elementState(markOf(tables, group, position));
    },
    elementHold(group, index) {
      const position = positionOf(group.range, index);
      return position === null ? null : heldMark(markOf(tables, group, position));
    },
    heldElements: ({ id, range }, as) =>
      heldPositions(sizeOf(range), as, (chunk) => tables.marks.get(markKey(id, chunk))?.marks),
    mutexHolder: (tenant, name) => indexes.flows.lock(lockKey(tenant, name))?.holder ?? null,
    dag: (id) => tables.dags.get(id),
    dags: () => tables.dags.values(),
    settings: () => tables.settings.values(),
    notice: (key) => tables.notices.get(key),
    notices: () => tables.notices.values(),
    domain: (key) => tables.domains.get(key),
    domains: () => tables.domains.values(),
    hooks: () => tables.hooks.values(),
    deliveries: () => tables.deliveries.values(),
    clearings: () => tables.clearings.values(),
    grants: () => tables.grants.values(),
    grantsOf: grants.of,
    enrolments: () => tables.enrolments.values(),
    enrolment: (id) => tables.enrolments.get(id),
    secret: (name) => tables.secrets.get(name)?.value ?? null,
    earlierSecrets: (name) => tables.secrets.get(name)?.earlier ?? [],
    audit: () => tables.audit.values(),
    auditRecord: (n) => tables.audit.get(String(n)),
    auditKeys: () => tables.auditKeys.values(),
    auditKey() {
      const newest = [...tables.auditKeys.values()].at(-1);
      return newest === undefined || newest.last !== null ? null : newest;
    },
  };
}

function* inOrder(
  records: Iterable<Allocation>,
  elements: Iterable<Allocation>,
): Generator<Allocation, void, undefined> {
  const woven = elements[Symbol.iterator]();
  let next = woven.next();
  for (const record of records) {
    if (record.element !== undefined) continue;
    while (next.done !== true && compareAllocationIds(next.value.id, record.id) < 0) {
      yield next.value;
      next = woven.next();
    }
    yield record;
  }
  while (next.done !== true) {
    yield next.value;
    next = woven.next();
  }
}
