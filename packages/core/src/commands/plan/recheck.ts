// Rechecks every placement against the current state: the plan may be old, and two vClusters may have chosen the same
// node. Cheapest checks first; nothing changes here.

import { present } from "../../base/invariant.ts";
import type { Refusal, RefusalCode } from "../../base/outcome.ts";
import { quote } from "../../base/outcome.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { placementConstraints } from "../../model/allocation/placement-constraints.ts";
import { fitsRoom, isSharedBy, mayShare, roomOf, shareOf } from "../../model/allocation/share.ts";
import type { Node, Share } from "../../model/node/node.ts";
import { describeShortfall, shortfalls } from "../../model/node/shortfalls.ts";
import type { Placement, PlacementPlan } from "../../model/plan/placement.ts";
import { behindRefusal } from "../../queries/behind.ts";
import { borrowRefusal, lendableNodes } from "../../queries/lending.ts";
import { poolLeft } from "../../queries/sensitive-pool.ts";
import { isFree } from "../../state/indexes.ts";
import type { Step } from "../../transitions/step.ts";

export type Recheck =
  | {
      readonly kind: "good";
      readonly record: Allocation;
      readonly nodes: readonly Node[];
      /** The share of a single node; `null` for exclusive nodes. */
      readonly share: Share | null;
    }
  | { readonly kind: "refused"; readonly refusal: Refusal };

export function recheck(step: Step, plan: PlacementPlan, placement: Placement): Recheck {
  const record = step.state.allocation(placement.allocation);
  if (record === undefined) return no("unknown_allocation", `there is no allocation ${quote(placement.allocation)}`);
  const stale = staleness(step, plan, placement, record);
  if (stale !== null) return no("stale_plan", stale);
  const { minNodes, maxNodes } = record.spec.resources;
  const count = placement.nodes.length;
  if (count < minNodes || count > maxNodes) {
    return no("constraint_unmet", `${count} nodes are placed where ${minNodes} to ${maxNodes} are requested`);
  }
  if (namesTwice(placement.nodes)) return no("constraint_unmet", "the placement names a node twice");
  const missing = missingRequired(record, placement);
  if (missing !== undefined)
    return no("constraint_unmet", `the required node "${missing}" is not part of the placement`);

  const nodes: Node[] = [];
  const constraints = placementConstraints(record);
  for (const id of placement.nodes) {
    const node = step.state.node(id);
    if (node === undefined) return no("node_unavailable", `there is no node ${quote(id)}`);
    const joins = placement.shared === true && isSharedBy(node, record.spec);
    const waits = placement.behind === true && node.claims.length > 0;
    const barred = waits ? behindRefusal(step.state, record, node) : null;
    if (barred !== null) return no("node_unavailable", barred);
    if (!isFree(node) && !joins && !waits) return no("node_unavailable", `node "${id}" is ${whyNotFree(node)}`);
    const bar = notOurs(step, record, node, nodes);
    if (bar !== null) return no("node_unavailable", bar);
    const lacking = shortfalls(constraints, id, node.capabilities)[0];
    if (lacking !== undefined) return no("constraint_unmet", `node "${id}" ${describeShortfall(lacking)}`);
    nodes.push(node);
  }
  if (record.spec.resources.constraints.requireConformance === true && !isUniform(nodes)) {
    return no("constraint_unmet", "the placement mixes or does not know the nodes' conformance");
  }
  const { maxGroups } = record.spec.resources.constraints;
  if (maxGroups !== undefined && new Set(nodes.map((node) => node.group)).size > maxGroups) {
    return no("constraint_unmet", `the placement spans more than ${maxGroups} groups`);
  }
  const [first] = nodes;
  const share = placement.shared === true && first !== undefined ? shareFor(step, record, first) : null;
  if (typeof share === "string") return no("node_unavailable", share);
  // A node that the tenant already holds counts once.
  const holds = share !== null || placement.behind === true;
  const more = holds && first !== undefined && !isFree(first) ? 0 : count;
  const refusal = overQuota(step, record, more) ?? overPool(step, record, more);
  return refusal === null ? { kind: "good", record, nodes, share } : { kind: "refused", refusal };
}

/** Returns the share of the node, or the reason as text when there is none. */
function shareFor(step: Step, record: Allocation, node: Node): Share | string {
  const vcluster = step.state.vcluster(record.spec.vcluster);
  if (vcluster === undefined || !mayShare(vcluster, record)) return `allocation ${record.id} takes whole nodes`;
  const share = shareOf(placementConstraints(record), node.capabilities);
  return fitsRoom(share, roomOf(node)) ? share : `node "${node.id}" has no room for allocation ${record.id}`;
}

/** Plans list nodes in order, so duplicates are neighbours. */
function namesTwice(nodes: Placement["nodes"]): boolean {
  for (let i = 1; i < nodes.length; i += 1) {
    if (!((nodes[i - 1] as string) < (nodes[i] as string))) return new Set(nodes).size !== nodes.length;
  }
  return false;
}

/** Explains why a node of another vCluster may not be borrowed; `null` when it may, or has no home vCluster. */
function notOurs(step: Step, { spec }: Allocation, { id, homeVCluster }: Node, taken: readonly Node[]): string | null {
  if (homeVCluster === null || homeVCluster === spec.vcluster) return null;
  if (spec.lifecycle.kind === "reactive") return "the least nodes of a service that scales are not borrowed";
  const bar = borrowRefusal(step.state, spec, homeVCluster);
  if (bar !== null) return `node "${id}" serves vCluster "${homeVCluster}" only: ${bar}`;
  const more = taken.filter((other) => other.homeVCluster === homeVCluster).length;
  if (more < lendableNodes(step.state, homeVCluster)) return null;
  return `node "${id}" is one of the nodes that vCluster "${homeVCluster}" never lends`;
}

/** Returns the reason as text; `null` when the plan knew the current state of this allocation. */
function staleness(step: Step, plan: PlacementPlan, placement: Placement, record: Allocation): string | null {
  const { id, phase, attempt, pendingSinceIndex } = record;
  if (plan.basis >= step.index) return `the plan is based on entry ${plan.basis}, which it cannot have seen`;
  if (phase.kind !== "pending") return `allocation ${id} is ${phase.kind}`;
  if (record.unmet.length > 0) return `allocation ${id} waits for its dependencies`;
  if (record.hold !== undefined) return `allocation ${id} is held by ${record.hold.by}`;
  if (phase.backoffUntil !== undefined) return `allocation ${id} has a backoff before its next start`;
  if (record.spec.vcluster !== plan.vcluster) return `allocation ${id} belongs to vCluster "${record.spec.vcluster}"`;
  if (placement.attempt !== attempt + 1)
    return `allocation ${id} is at attempt ${attempt}, placed as ${placement.attempt}`;
  if (plan.basis >= pendingSinceIndex) return null;
  return `allocation ${id} is pending since entry ${pendingSinceIndex}, after the plan's basis ${plan.basis}`;
}

function missingRequired(record: Allocation, placement: Placement): string | undefined {
  const { requiredNodes } = record.spec.resources.constraints;
  if (requiredNodes.length === 0) return undefined;
  const placed = new Set(placement.nodes);
  return requiredNodes.find((node) => !placed.has(node));
}

/** A single node always has equal fingerprints. */
function isUniform(nodes: readonly Node[]): boolean {
  const first = nodes[0]?.conformance ?? "";
  return nodes.length <= 1 || (first !== "" && nodes.every((node) => node.conformance === first));
}

/** Releasing claims count: the tenant still holds those nodes. */
function overQuota(step: Step, record: Allocation, requested: number): Refusal | null {
  const id = record.spec.tenant;
  const { quota } = present(step.state.tenant(id), `tenant ${id} of allocation ${record.id} is gone`);
  const usage = step.state.usage(id);
  if (quota.maxNodes !== null && usage.nodes + requested > quota.maxNodes) {
    return exceeded(id, "max_nodes", { limit: quota.maxNodes, current: usage.nodes, requested });
  }
  const most = quota.maxConcurrentAllocations;
  if (most !== null && usage.running + 1 > most) {
    return exceeded(id, "max_concurrent_allocations", { limit: most, current: usage.running, requested: 1 });
  }
  return null;
}

/** Sensitive work has one pool for the cluster, across tenants. */
function overPool(step: Step, { spec }: Allocation, requested: number): Refusal | null {
  const pool = poolLeft(step.state, spec.vcluster);
  if (pool === null || pool.current + requested <= pool.limit) return null;
  const figures = { ...pool, requested };
  return {
    code: "quota_exceeded",
    detail: `sensitive work would exceed sensitive_pool_size ${numbersOf(figures)}`,
    figures,
  };
}

function exceeded(
  tenant: string,
  quota: string,
  figures: { readonly limit: number; readonly current: number; readonly requested: number },
): Refusal {
  const detail = `tenant "${tenant}" would exceed its ${quota} quota ${numbersOf(figures)}`;
  return { code: "quota_exceeded", detail, figures };
}

const numbersOf = ({ limit, current, requested }: NonNullable<Refusal["figures"]>): string =>
  `(limit ${limit}, in use ${current}, requested ${requested})`;

function whyNotFree(node: Node): string {
  const claim = node.claims[0];
  if (node.state.kind !== "ready" || claim === undefined) return node.state.kind;
  return claim.releasing ? `still being released by ${claim.allocation}` : `held by ${claim.allocation}`;
}

const no = (code: RefusalCode, detail: string): Recheck => ({ kind: "refused", refusal: { code, detail } });
