// Records of the view as a cycle sees them: a node, the release of a placed allocation, a pending allocation, a tenant
// with its use and limits.

import {
  type Allocation,
  after,
  attempt,
  budgetUse,
  type Instant,
  lastDays,
  type Node,
  type NodeId,
  type NodeStateKind,
  placementConstraints,
  type Tenant,
  type VCluster,
  type View,
  type Window,
} from "@lattice/core";
import { OVERDUE_RELEASE, WALLTIME_GRACE } from "../base/bounds.ts";
import type { CheckpointInput, NodeInput, PendingInput, ReleaseInput, TenantInput } from "../input/cycle-input.ts";
import type { Lenders } from "./lenders.ts";

/** Whether a node can receive orders now; known to the leader, not to the log. */
export type IsReachable = (node: NodeId) => boolean;

export const alwaysReachable: IsReachable = () => true;

/** States in which a node serves, or soon will without intervention. */
const USABLE: ReadonlySet<NodeStateKind> = new Set<NodeStateKind>(["ready", "degraded", "booting"]);

export function nodeInput(node: Node, reachable: IsReachable): NodeInput {
  const { cpuCores, memoryBytes, gpuType, gpuCount, features } = node.capabilities;
  const { cxlMemoryBytes, powerWatts, gpuTopology, memoryTopology } = node.capabilities;
  const idle = node.state.kind === "ready" && node.claims.length === 0;
  const free = idle && reachable(node.id);
  const input: { -readonly [Field in keyof NodeInput]: NodeInput[Field] } = {
    id: node.id,
    group: node.group,
    conformance: node.conformance,
    cpuCores,
    memoryBytes,
    gpuType,
    gpuCount,
    features,
    free,
    usable: USABLE.has(node.state.kind),
    notFreeBecause: free ? "" : idle ? "unreachable" : node.state.kind === "ready" ? "busy" : node.state.kind,
  };
  if (cxlMemoryBytes !== undefined) input.cxlMemoryBytes = cxlMemoryBytes;
  if (powerWatts !== undefined) input.powerWatts = powerWatts;
  if (gpuTopology !== undefined) input.gpuTopology = gpuTopology;
  if (memoryTopology !== undefined) input.memoryTopology = memoryTopology;
  return input;
}

/** A node whose claims are all being released is expected soon, whatever the walltime. */
export function releasing(node: Node, now: Instant): ReleaseInput | null {
  const first = node.claims[0];
  if (first === undefined || !node.claims.every((claim) => claim.releasing)) return null;
  const { allocation, tenant } = first;
  return { allocation, nodes: [node.id], endsAt: after(now, OVERDUE_RELEASE), tenant };
}

export function releaseOf({ id, phase, spec }: Allocation): ReleaseInput | null {
  if (phase.kind !== "staging" && phase.kind !== "running" && phase.kind !== "checkpointing") return null;
  const { walltime } = spec.lifecycle;
  const start = phase.kind === "staging" ? phase.placedAt : phase.startedAt;
  const endsAt = walltime === null ? null : after(after(start, walltime), WALLTIME_GRACE);
  const { storageMBps } = spec.resources.constraints;
  const { nodes } = phase;
  if (storageMBps === undefined) return { allocation: id, nodes, endsAt, tenant: spec.tenant };
  return { allocation: id, nodes, endsAt, tenant: spec.tenant, storageMBps };
}

/** Returns a pending allocation as a cycle sees it. */
export function pendingInput(record: Allocation, lenders: Lenders | null, shares = false): PendingInput {
  const { id, spec, submittedAt, eligibleAt = submittedAt, attempt: last } = record;
  const borrowsFrom = lenders?.lendersFor(record) ?? null;
  const { minNodes, maxNodes } = spec.resources;
  const constraints = placementConstraints(record);
  const { walltime, preemptionClass } = spec.lifecycle;
  return {
    id,
    tenant: spec.tenant,
    submittedAt: eligibleAt,
    minNodes,
    maxNodes,
    constraints,
    walltime,
    preemptionClass,
    nextAttempt: attempt(last + 1),
    ...(borrowsFrom === null ? null : { borrowsFrom }),
    ...(shares ? { canShareNode: true as const } : null),
    ...(spec.checkpoint === undefined ? null : { checkpoint: checkpointInput(record) }),
  };
}

function checkpointInput({ spec, checkpoints }: Allocation): CheckpointInput {
  const { minNodes: nodes, constraints } = spec.resources;
  return {
    lastDuration: checkpoints?.last?.took ?? null,
    nodes,
    gpus: constraints.gpuCount * nodes,
    memoryBytes: constraints.memoryBytes * nodes,
  };
}

/** The basis of the figures of all tenants. */
interface UsageBasis {
  /** The days over which use counts. */
  readonly window: Window;
  /** The use by all tenants in the window; 0 when shares do not matter. */
  readonly all: number;
  /** The equal share of a tenant without a share of its own. */
  readonly shareMilli: number;
}

interface UsageOptions {
  readonly weights: VCluster["weights"];
  readonly now: Instant;
  readonly days: number;
  /** The number of tenants. */
  readonly tenants: number;
}

export function usageBasis(view: View, { weights, now, days, tenants }: UsageOptions): UsageBasis {
  const window = lastDays(now, days);
  const all = weights.fair_share === 0 ? 0 : view.ledger.spent({}, window).nodeMs;
  return { window, all, shareMilli: Math.max(1, Math.round(1000 / tenants)) };
}

/** Only tenants with pending allocations are ordered by their share. */
export function tenantInput(view: View, tenant: Tenant, waits: boolean, reckoning: UsageBasis): TenantInput {
  const { id, quota } = tenant;
  const { window, all, shareMilli } = reckoning;
  const usage = view.usage(id);
  // Field by field: copies for every waiting tenant in every cycle would cost more than the rest.
  const input: { -readonly [Field in keyof TenantInput]: TenantInput[Field] } = {
    id,
    nodesInUse: usage.nodes,
    running: usage.running,
    maxNodes: quota.maxNodes,
    maxConcurrentAllocations: quota.maxConcurrentAllocations,
    fairShareMilli: quota.fairShareMilli ?? shareMilli,
  };
  if (quota.burstAllowanceMilli !== null) input.burstAllowanceMilli = quota.burstAllowanceMilli;
  if (waits && all > 0) input.usedShareMilli = shareOf(view.ledger.spent({ tenant: id }, window), all);
  const used = budgetUsed(view, tenant, window);
  if (used !== null) input.budgetUsedMilli = used;
  return input;
}

const shareOf = ({ nodeMs }: { readonly nodeMs: number }, all: number): number => Math.round((1000 * nodeMs) / all);

/** Whether its figures change with time alone. */
export const hasBudget = ({ quota }: Tenant): boolean =>
  quota.gpuHoursBudget !== null || quota.nodeHoursBudget !== null;

/** From committed state only: a previous leader would compute the same. */
function budgetUsed(view: View, tenant: Tenant, window: Window): number | null {
  if (!hasBudget(tenant)) return null;
  const used = budgetUse(tenant.quota, view.ledger.spent({ tenant: tenant.id }, window));
  return used === null ? null : Math.round(used * 1000);
}
