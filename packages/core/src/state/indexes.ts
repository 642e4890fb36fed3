// What can be read off the records, kept up to date at every replacement so that asking is free:
// pending per vCluster, placed, usage per tenant, free nodes, claims per allocation. Nothing here
// is hashed or stored; a restored state builds it again from its records.

import type { Allocation } from "../allocation/allocation.ts";
import { compareAllocationIds } from "../allocation/order.ts";
import { type AllocationPhase, isPlaced } from "../allocation/phase.ts";
import { isQueued } from "../allocation/queued.ts";
import { byCodeUnits } from "../canonical.ts";
import type { Dag } from "../dag/dag.ts";
import type { AllocationId, DagId, NodeId, TenantId, VClusterId } from "../ids.ts";
import { type Accounts, createAccounts } from "../ledger/accounts.ts";
import type { GpusOn } from "../ledger/held.ts";
import type { Claim, Node } from "../node/node.ts";
import { type ByUser, createByUser } from "./by-user.ts";
import { createFlows, type Flows } from "./flows.ts";
import { createOrdered, type Ordered } from "./ordered.ts";
import { createSharingIndex, type SharingIndex } from "./sharing-index.ts";
import type { TenantUsage } from "./view.ts";

export interface Indexes {
  readonly placed: Ordered<AllocationId>;
  /** Services that are begun again later. */
  readonly held: Ordered<AllocationId>;
  /** Pending, and somebody wants them to wait. */
  readonly onHold: Ordered<AllocationId>;
  readonly nodes: Ordered<NodeId>;
  readonly freeNodeCount: number;
  /** Nodes with something held against them. */
  readonly faultyNodeCount: number;
  readonly accounts: Accounts;
  readonly sharing: SharingIndex;
  readonly flows: Flows;
  readonly byUser: ByUser;
  /** The first to end comes first. */
  readonly endedDags: Ordered<Dag>;
  pending(vcluster: VClusterId): Ordered<AllocationId>;
  usage(tenant: TenantId): TenantUsage;
  /** Nodes that work of this vCluster holds. */
  claimedNodes(vcluster: VClusterId): number;
  claimCount(allocation: AllocationId): number;
  allocationReplaced(before: Allocation | undefined, after: Allocation | undefined): void;
  dagReplaced(after: Dag): void;
  dagRemoved(record: Dag): void;
  /** Answers the allocations whose last claim went with this change. */
  nodeReplaced(before: Node | undefined, after: Node): readonly AllocationId[];
  /** The only claim on each of these nodes was taken (1) or given back (-1); answers how many its allocation has left. */
  claimReplaced(nodes: readonly Node[], claim: Claim, change: 1 | -1): number;
}

type Tally = { nodes: number; running: number };

const NO_CLAIMS: readonly Claim[] = [];
const NOBODY: readonly AllocationId[] = [];

/** `usageChanged` is told whose tally is about to change. */
export function createIndexes(gpusOn: GpusOn, usageChanged: (tenant: TenantId) => void): Indexes {
  const pending = new Map<VClusterId, Ordered<AllocationId>>();
  const placed = createOrdered(compareAllocationIds);
  const held = createOrdered(compareAllocationIds);
  const onHold = createOrdered(compareAllocationIds);
  const nodes = createOrdered<NodeId>(byCodeUnits);
  const usage = new Map<TenantId, Tally>();
  const claims = new Map<AllocationId, number>();
  const claimedNodes = new Map<VClusterId, number>();
  const accounts = createAccounts(gpusOn);
  const sharing = createSharingIndex();
  const flows = createFlows();
  const byUser = createByUser();
  const endedDags = createOrdered(byEnd);
  let free = 0;
  let faulty = 0;

  function pendingOf(vcluster: VClusterId): Ordered<AllocationId> {
    const known = pending.get(vcluster);
    if (known !== undefined) return known;
    const fresh = createOrdered(compareAllocationIds);
    pending.set(vcluster, fresh);
    return fresh;
  }

  function tallyOf(tenant: TenantId): Tally {
    usageChanged(tenant);
    const known = usage.get(tenant);
    if (known !== undefined) return known;
    const fresh = { nodes: 0, running: 0 };
    usage.set(tenant, fresh);
    return fresh;
  }

  function count(allocation: AllocationId, change: number): number {
    const left = (claims.get(allocation) ?? 0) + change;
    if (left === 0) claims.delete(allocation);
    else claims.set(allocation, left);
    return left;
  }

  function countNodes(claim: Pick<Claim, "vcluster"> | undefined, change: number): void {
    if (claim !== undefined) claimedNodes.set(claim.vcluster, (claimedNodes.get(claim.vcluster) ?? 0) + change);
  }

  function claimsReplaced(before: readonly Claim[], after: readonly Claim[]): readonly AllocationId[] {
    for (const tenant of tenantsOf(before)) tallyOf(tenant).nodes -= 1;
    for (const tenant of tenantsOf(after)) tallyOf(tenant).nodes += 1;
    // A node is shared within one vCluster only: the first claim tells whose it is.
    countNodes(before[0], -1);
    countNodes(after[0], 1);
    for (const claim of after) count(claim.allocation, 1);
    if (before.length === 0) return NOBODY;
    const cleared: AllocationId[] = [];
    for (const claim of before) {
      if (count(claim.allocation, -1) === 0) cleared.push(claim.allocation);
    }
    return cleared;
  }

  return {
    placed,
    held,
    onHold,
    nodes,
    get freeNodeCount() {
      return free;
    },
    get faultyNodeCount() {
      return faulty;
    },
    accounts,
    sharing,
    flows,
    byUser,
    endedDags,
    pending: (vcluster) => pending.get(vcluster) ?? NONE,
    usage: (tenant) => ({ nodes: usage.get(tenant)?.nodes ?? 0, running: usage.get(tenant)?.running ?? 0 }),
    claimedNodes: (vcluster) => claimedNodes.get(vcluster) ?? 0,
    claimCount: (allocation) => claims.get(allocation) ?? 0,
    allocationReplaced(before, after) {
      accounts.allocationReplaced(before, after);
      sharing.allocationReplaced(before, after);
      flows.allocationReplaced(before, after);
      byUser.allocationReplaced(before, after);
      const was = before?.phase;
      const is = after?.phase;
      const wasQueued = before !== undefined && isQueued(before);
      const nowQueued = after !== undefined && isQueued(after);
      if (before?.hold !== undefined && after?.hold === undefined) onHold.delete(before.id);
      if (after?.hold !== undefined) onHold.add(after.id);
      if (before !== undefined && isHeld(was) && !isHeld(is)) held.delete(before.id);
      if (after !== undefined && isHeld(is)) held.add(after.id);
      if (before !== undefined && wasQueued && !nowQueued) pendingOf(before.spec.vcluster).delete(before.id);
      if (after !== undefined && nowQueued && !wasQueued) pendingOf(after.spec.vcluster).add(after.id);
      const wasPlaced = was !== undefined && isPlaced(was);
      const nowPlaced = is !== undefined && isPlaced(is);
      if (before !== undefined && wasPlaced && !nowPlaced) {
        placed.delete(before.id);
        tallyOf(before.spec.tenant).running -= 1;
      }
      if (after !== undefined && nowPlaced && !wasPlaced) {
        placed.add(after.id);
        tallyOf(after.spec.tenant).running += 1;
      }
    },
    dagReplaced(after) {
      if (after.endedAt !== null) endedDags.add(after);
    },
    dagRemoved: (record) => endedDags.delete(record),
    nodeReplaced(before, after) {
      if (before === undefined) nodes.add(after.id);
      accounts.nodeReplaced(before, after);
      sharing.nodeReplaced(before, after);
      free += Number(isFree(after)) - Number(before !== undefined && isFree(before));
      faulty += Number(after.faults !== undefined) - Number(before?.faults !== undefined);
      const claimed = before?.claims ?? NO_CLAIMS;
      return claimed === after.claims ? NOBODY : claimsReplaced(claimed, after.claims);
    },
    claimReplaced(changed, { allocation, tenant, vcluster }, change) {
      for (const { state, homeVCluster } of changed) {
        if (state.kind === "ready") free -= change;
        if (homeVCluster !== null && homeVCluster !== vcluster) sharing.lentChanged(homeVCluster, change);
      }
      tallyOf(tenant).nodes += change * changed.length;
      countNodes({ vcluster }, change * changed.length);
      return count(allocation, change * changed.length);
    },
  };
}

const isHeld = (phase: AllocationPhase | undefined): boolean =>
  phase?.kind === "pending" && phase.heldUntil !== undefined;

const numberOf = (id: DagId): number => Number(id.slice(id.indexOf("-") + 1));

const byEnd = (a: Dag, b: Dag): number => (a.endedAt ?? 0) - (b.endedAt ?? 0) || numberOf(a.id) - numberOf(b.id);

/** Ready and without any claim: what a placement may take. */
export const isFree = (node: Node): boolean => node.state.kind === "ready" && node.claims.length === 0;

const NONE = createOrdered<AllocationId>(compareAllocationIds);

const NO_TENANTS: readonly TenantId[] = [];

/** Distinct: several claims of one tenant on a shared node are one node in use. */
function tenantsOf(claims: readonly Claim[]): readonly TenantId[] {
  const first = claims[0];
  if (first === undefined) return NO_TENANTS;
  return claims.length === 1 ? [first.tenant] : [...new Set(claims.map((claim) => claim.tenant))];
}
