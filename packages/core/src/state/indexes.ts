// Indexes over the records, updated at every replacement: pending per vCluster, placed, usage per tenant, free nodes,
// claims per allocation. Neither hashed nor stored; a restored state rebuilds them.

import { byCodeUnits } from "../base/canonical.ts";
import { compareAllocationIds } from "../base/id-order.ts";
import type { AllocationId, DagId, NodeId, TenantId, VClusterId } from "../base/ids.ts";
import { createOrdered, type Ordered } from "../base/ordered.ts";
import type { Allocation } from "../model/allocation/allocation.ts";
import { isQueued } from "../model/allocation/is-queued.ts";
import { type AllocationPhase, isPlaced, type PhaseKind } from "../model/allocation/phase.ts";
import type { Dag } from "../model/dag/dag.ts";
import type { GpusOn } from "../model/ledger/current-use.ts";
import type { Claim, Node } from "../model/node/node.ts";
import { type Accounts, createAccounts } from "./accounts.ts";
import { type ByUser, createByUser } from "./by-user.ts";
import { createFlows, type Flows } from "./flows.ts";
import { createSharingIndex, type SharingIndex } from "./sharing-index.ts";
import { createUsageIndex } from "./usage-index.ts";
import type { TenantUsage } from "./view.ts";

export interface Indexes {
  readonly placed: Ordered<AllocationId>;
  /** Allocations with a backoff. */
  readonly held: Ordered<AllocationId>;
  /** Pending allocations with a hold. */
  readonly onHold: Ordered<AllocationId>;
  readonly nodes: Ordered<NodeId>;
  /** Allocations by phase. */
  readonly phaseCounts: ReadonlyMap<PhaseKind, number>;
  readonly freeNodeCount: number;
  /** Nodes with recorded faults. */
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
  /** Returns the allocations whose last claim was released by this change. */
  nodeReplaced(before: Node | undefined, after: Node): readonly AllocationId[];
  /** The only claim on each of these nodes was taken (1) or released (-1); returns the number of claims that its allocation has left. */
  claimReplaced(nodes: readonly Node[], claim: Claim, change: 1 | -1): number;
}

const NO_CLAIMS: readonly Claim[] = [];
const NO_ALLOCATIONS: readonly AllocationId[] = [];

/** `usageChanged` is called before the usage of a tenant changes. */
export function createIndexes(gpusOn: GpusOn, usageChanged: (tenant: TenantId) => void): Indexes {
  const pending = new Map<VClusterId, Ordered<AllocationId>>();
  const placed = createOrdered(compareAllocationIds);
  const held = createOrdered(compareAllocationIds);
  const onHold = createOrdered(compareAllocationIds);
  const nodes = createOrdered<NodeId>(byCodeUnits);
  const use = createUsageIndex(usageChanged);
  const accounts = createAccounts(gpusOn);
  const sharing = createSharingIndex();
  const flows = createFlows();
  const byUser = createByUser();
  const endedDags = createOrdered(byEnd);
  const phaseCounts = new Map<PhaseKind, number>();
  let free = 0;
  let faulty = 0;

  function pendingOf(vcluster: VClusterId): Ordered<AllocationId> {
    const known = pending.get(vcluster);
    if (known !== undefined) return known;
    const fresh = createOrdered(compareAllocationIds);
    pending.set(vcluster, fresh);
    return fresh;
  }

  const countPhase = (kind: PhaseKind, change: 1 | -1): void =>
    void phaseCounts.set(kind, (phaseCounts.get(kind) ?? 0) + change);

  return {
    placed,
    held,
    onHold,
    nodes,
    phaseCounts,
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
    usage: use.usage,
    claimedNodes: use.claimedNodes,
    claimCount: use.claimCount,
    allocationReplaced(before, after) {
      accounts.allocationReplaced(before, after);
      sharing.allocationReplaced(before, after);
      flows.allocationReplaced(before, after);
      byUser.allocationReplaced(before, after);
      const was = before?.phase;
      const is = after?.phase;
      if (was?.kind !== is?.kind) {
        if (was !== undefined) countPhase(was.kind, -1);
        if (is !== undefined) countPhase(is.kind, 1);
      }
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
        use.placed(before.spec.tenant, -1);
      }
      if (after !== undefined && nowPlaced && !wasPlaced) {
        placed.add(after.id);
        use.placed(after.spec.tenant, 1);
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
      return claimed === after.claims ? NO_ALLOCATIONS : use.claimsReplaced(claimed, after.claims);
    },
    claimReplaced(changed, claim, change) {
      const { vcluster } = claim;
      for (const { state, homeVCluster } of changed) {
        if (state.kind === "ready") free -= change;
        if (homeVCluster !== null && homeVCluster !== vcluster) sharing.lentChanged(homeVCluster, change);
      }
      return use.claimCounted(claim, change * changed.length);
    },
  };
}

const isHeld = (phase: AllocationPhase | undefined): boolean =>
  phase?.kind === "pending" && phase.backoffUntil !== undefined;

const numberOf = (id: DagId): number => Number(id.slice(id.indexOf("-") + 1));

const byEnd = (a: Dag, b: Dag): number => (a.endedAt ?? 0) - (b.endedAt ?? 0) || numberOf(a.id) - numberOf(b.id);

/** A placement may take nodes that are ready and have no claim. */
export const isFree = (node: Node): boolean => node.state.kind === "ready" && node.claims.length === 0;

const NONE = createOrdered<AllocationId>(compareAllocationIds);
