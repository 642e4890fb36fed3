// Rules for every placement, compared with observed history rather than with the state itself: quotas as in force at
// that command (S2), dependencies ended as required and mutexes with one holder (E2), and sensitive work on its own
// nodes (S5).

import {
  type Allocation,
  type Applied,
  type Event,
  elementOf,
  isPlaced,
  isSensitive,
  isSensitiveHome,
  type View,
} from "@lattice/core";
import type { Replica } from "@lattice/server";
import type { World } from "../world/world.ts";
import type { Watcher } from "./watcher.ts";

export function placementChecks(world: World): Watcher {
  const counts = { dependents: 0, namesHeld: 0, sensitiveStarts: 0, quotaRefusals: 0 };
  /** The last observed phase of each allocation and group. */
  const phases = new Map<string, string>();

  /** A quota change counts if it precedes the placement within the entry. */
  function checkQuota(view: View, events: readonly Event[], at: number, record: Allocation): void {
    const { tenant } = record.spec;
    const quota = view.tenant(tenant)?.quota;
    const later = events.slice(at).some((event) => event.kind === "tenant_changed" && event.tenant === tenant);
    if (quota === undefined || later) return;
    const usage = view.usage(tenant);
    if (quota.maxNodes !== null && usage.nodes > quota.maxNodes)
      world.violated("S2", `${record.id} was placed: tenant ${tenant} has ${usage.nodes} nodes of ${quota.maxNodes}`);
    const most = quota.maxConcurrentAllocations;
    if (most !== null && usage.running > most)
      world.violated("S2", `${record.id} was placed: tenant ${tenant} runs ${usage.running} of ${most}`);
  }

  /** Several failure conditions are alternatives; all other conditions must hold. */
  function checkEdges(view: View, record: Allocation): void {
    const group = elementOf(record.id)?.group;
    const edges = record.spec.dependsOn ?? (group === undefined ? [] : (view.group(group)?.spec.dependsOn ?? []));
    if (edges.length === 0) return;
    counts.dependents += 1;
    const ended = (ref: string): string => phases.get(ref) ?? "";
    const failures = edges.filter(({ condition }) => condition === "failure");
    const failed = failures.some(({ ref }) => ended(ref) === "failed" || ended(ref) === "cancelled");
    if (failures.length > 0 && !failed) broken(record, `none of ${failures.map(({ ref }) => ref).join()} has failed`);
    for (const { ref, condition } of edges) {
      if (condition === "success" && ended(ref) !== "completed") broken(record, `${ref} is ${ended(ref)}`);
      if (condition === "any" && !ENDS.has(ended(ref))) broken(record, `${ref} is ${ended(ref)}`);
      if (condition === "mutex") checkName(view, record, ref);
    }
  }

  function checkName(view: View, record: Allocation, name: string): void {
    counts.namesHeld += 1;
    for (const other of view.placed()) {
      if (other.id === record.id || other.spec.tenant !== record.spec.tenant) continue;
      const holds = other.spec.dependsOn?.some(({ condition, ref }) => condition === "mutex" && ref === name);
      if (holds === true) broken(record, `${other.id} holds "${name}", too`);
    }
  }

  const broken = (record: Allocation, why: string): void => world.violated("E2", `${record.id} was placed, but ${why}`);

  function checkSensitive(view: View, record: Allocation): void {
    const own = isSensitive(view, record.spec.vcluster);
    if (own) counts.sensitiveStarts += 1;
    if (!isPlaced(record.phase)) return;
    for (const id of record.phase.nodes) {
      const node = view.node(id);
      if (node === undefined) continue;
      if (isSensitiveHome(view, node) && node.homeVCluster !== record.spec.vcluster)
        world.violated("S5", `${record.id} was placed on ${id}, a node for sensitive work`);
      if (own && node.claims.length > 1) world.violated("S5", `${record.id} shares ${id}`);
    }
  }

  return {
    counts,
    leastPerHour: { dependents: 40, namesHeld: 5, sensitiveStarts: 4 },
    applied({ view }: Replica, { events }: Applied) {
      for (const [at, event] of events.entries()) {
        const { kind, allocation, from, to, reason } = event;
        if (kind === "placement_refused" && reason === "quota_exceeded") counts.quotaRefusals += 1;
        if (kind !== "allocation_changed" || allocation === undefined || to === undefined) continue;
        const record = view.allocation(allocation);
        if (record !== undefined && isSensitive(view, record.spec.vcluster) && WITHDRAWN.has(`${from} ${to}`))
          world.violated("S5", `${allocation}, which is sensitive, went from ${from} to ${to} (${reason})`);
        phases.set(allocation, to);
        // An allocation that moved on within the same entry was placed with the earlier state.
        if (to !== "staging" || record?.phase.kind !== "staging" || from === to) continue;
        checkQuota(view, events, at, record);
        checkEdges(view, record);
        checkSensitive(view, record);
      }
    },
  };
}

const ENDS: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);
/** Requeued or preempted. */
const WITHDRAWN: ReadonlySet<string> = new Set(["running pending", "staging pending", "running checkpointing"]);
