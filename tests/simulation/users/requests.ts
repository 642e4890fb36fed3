// The requests of random users: submissions of every shape, cancellations, changes, and an administrator's work on
// nodes and quotas. Pure apart from randomness: it creates commands and sends none.

import {
  type AllocationId,
  type AllocationSpec,
  type Command,
  DEFAULT_LENDING,
  duration,
  minimalSpec,
  NO_CONSTRAINTS,
  type NodeId,
  type Origin,
  type TenantId,
  UNLIMITED,
  type UserName,
  type VClusterId,
} from "@lattice/core";
import { programLine } from "../nodes/program.ts";
import type { Random } from "../world/random.ts";

export const TENANTS = [
  { id: "default", maxNodes: null, maxConcurrent: null },
  { id: "physics", maxNodes: 12, maxConcurrent: null },
  { id: "biology", maxNodes: null, maxConcurrent: 5 },
] as const;
const VCLUSTERS = ["hpc-batch", "hpc-batch", "ml-training", "service", "interactive"] as const;
/** Network domains that users name; others are private. */
export const DOMAINS = ["ring", "tree", "mesh"] as const;
const MINUTE_MS = 60_000;
/** Long enough to block others; a run waits at its end for several of them in sequence. */
const HOG_MS = [MINUTE_MS, 1.5 * MINUTE_MS, 2.5 * MINUTE_MS] as const;

export const originOf = (requestId: string): Origin => ({
  user: "simulated" as UserName,
  requestId,
  bodyHash: requestId,
});

export function submission(
  random: Random,
  requestId: string,
): { readonly command: Command; readonly spec: AllocationSpec } {
  const spec = specOf(random, requestId);
  return { command: { kind: "allocation.submit", origin: originOf(requestId), spec, createTenant: true }, spec };
}

export function specOf(random: Random, name: string): AllocationSpec {
  // Now and then a large job of a low class that others must preempt.
  const hog = random.chance(0.05);
  const nodes = hog ? random.pick([8, 12, 20]) : random.pick([1, 1, 1, 2, 2, 3, 4]);
  const elastic = nodes > 1 && random.chance(0.2);
  const unbounded = random.chance(0.03);
  const walltime = hog ? 3_600_000 : random.pick([15, 30, 60, 120, 600, 600]) * 1_000;
  return minimalSpec({
    // A tenant whose quota is never below its requests.
    tenant: (hog ? TENANTS[0] : random.pick(TENANTS)).id as TenantId,
    vcluster: random.pick(VCLUSTERS) as VClusterId,
    name,
    task: {
      kind: "entrypoint",
      line: programLine(programFor(random, unbounded ? 10 * MINUTE_MS : hog ? random.pick(HOG_MS) : null)),
    },
    resources: {
      minNodes: elastic ? 1 : nodes,
      maxNodes: nodes,
      constraints: { ...NO_CONSTRAINTS, topology: random.chance(0.1) ? "tight" : "any" },
    },
    lifecycle: {
      kind: unbounded ? "unbounded" : "bounded",
      walltime: unbounded ? null : duration(walltime),
      preemptionClass: hog ? random.between(0, 3) : random.between(0, 10),
      requeuePolicy: random.pick(["never", "on_node_failure", "on_node_failure", "always"]),
      maxRequeue: random.between(0, 5),
    },
    ...(random.chance(0.15) ? { networkDomain: random.pick(DOMAINS) } : null),
    // Work suspended at its walltime waits for its user, who resumes it at the end.
    ...(hog && !unbounded ? { checkpoint: CHECKPOINT } : null),
  });
}

const CHECKPOINT = {
  mode: "signal",
  auto: true,
  port: 0,
  timeout: duration(20_000),
  maxDeferral: duration(0),
} as const;

function programFor(random: Random, runsMs: number | null) {
  return {
    runsMs: runsMs ?? random.wait(random.pick([500, 8_000, 20_000, 60_000, 150_000])),
    exitCode: random.chance(0.12) ? random.between(1, 130) : 0,
    stopsMs: random.chance(0.15) ? null : random.wait(300),
    broken: random.chance(0.03),
    unready: random.chance(0.08) ? random.pick([0.3, 0.7, 1]) : 0,
  };
}

export const cancellation = (id: AllocationId, requestId: string): Command => ({
  kind: "allocation.cancel",
  origin: originOf(requestId),
  id,
  reason: "no longer needed",
});

/** Suspended at its walltime: it waits for its user without limit. */
export const resumption = (id: AllocationId, requestId: string): Command => ({
  kind: "allocation.resume",
  origin: originOf(requestId),
  id,
});

export const newWalltime = (id: AllocationId, walltimeMs: number, requestId: string): Command => ({
  kind: "allocation.update",
  origin: originOf(requestId),
  id,
  change: { walltime: duration(walltimeMs) },
});

export function tenantCommands(): readonly Command[] {
  return TENANTS.filter(({ id }) => id !== "default").map(({ id, maxNodes, maxConcurrent }) => ({
    kind: "tenant.create",
    origin: originOf(`tenant-${id}`),
    tenant: id as TenantId,
    description: "",
    quota: { ...UNLIMITED, maxNodes, maxConcurrentAllocations: maxConcurrent },
    maxPreemptionClass: 10,
  }));
}

/** The vCluster with its own nodes lends them. */
export const LENDER = "ml-training";

export const lendingCommand = (): Command => ({
  kind: "vcluster.update",
  origin: originOf("lending"),
  vcluster: LENDER as VClusterId,
  change: { lending: { ...DEFAULT_LENDING, keepNodes: 1, returnGrace: duration(5_000) } },
});

export const quotaChange = (tenant: string, maxNodes: number | null, requestId: string): Command => ({
  kind: "tenant.update",
  origin: originOf(requestId),
  tenant: tenant as TenantId,
  change: { quota: { maxNodes } },
});

export type NodeAction = "drain" | "undrain" | "disable" | "enable";

export function nodeCommand(action: NodeAction, node: string, requestId: string): Command {
  const of = { origin: originOf(requestId), node: node as NodeId };
  if (action === "drain") return { kind: "node.drain", ...of, reason: "maintenance" };
  if (action === "disable") return { kind: "node.disable", ...of, reason: "maintenance" };
  return action === "undrain" ? { kind: "node.undrain", ...of } : { kind: "node.enable", ...of };
}
