// Everything that must hold between the records at every index, as sentences about what does not. Written against the
// View alone, and slow on purpose: it counts again what the indexes claim to know. Tests check after every entry; a long
// run uses `watchInvariants`, which looks only at what an entry changed; a server never checks.

import { byCodeUnits } from "../../src/base/canonical.ts";
import { compareAllocationIds } from "../../src/base/id-order.ts";
import type { AllocationId, TenantId } from "../../src/base/ids.ts";
import { isQueued } from "../../src/model/allocation/is-queued.ts";
import { allocationMoves, isPlaced, type PhaseKind } from "../../src/model/allocation/phase.ts";
import type { View } from "../../src/state/view.ts";
import { brokenAccess } from "./access.ts";
import { brokenAllocation } from "./allocation.ts";
import { brokenFlows } from "./flow.ts";
import { brokenLedger } from "./ledger.ts";
import { brokenNetworks } from "./network.ts";
import { brokenNode } from "./node.ts";
import { brokenSharing } from "./sharing.ts";

export function brokenInvariants(view: View): string[] {
  return [
    ...Array.from(view.nodes(), (node) => brokenNode(view, node)).flat(),
    ...Array.from(view.allocations(), (record) => brokenAllocation(view, record)).flat(),
    ...brokenQueues(view),
    ...brokenPlaced(view),
    ...brokenNodeIndex(view),
    ...brokenUsage(view),
    ...brokenSharing(view),
    ...brokenLedger(view),
    ...brokenDefaults(view),
    ...brokenNetworks(view),
    ...brokenFlows(view),
    ...brokenAccess(view),
  ];
}

function brokenQueues(view: View): string[] {
  const broken: string[] = [];
  const all = Array.from(view.allocations());
  if (all.length !== view.allocationCount) broken.push(`${all.length} allocations, counted ${view.allocationCount}`);
  if (
    !ascending(
      all.map((record) => record.id),
      compareAllocationIds,
    )
  )
    broken.push("allocations are not in order");
  const whole = all.filter((record) => record.element === undefined).reverse();
  if (!sameItems(whole, Array.from(view.newest(null)))) broken.push("the newest first are not all, or not in order");
  for (const user of new Set(all.map((record) => record.user))) {
    const wanted = all.filter((record) => record.user === user);
    if (!sameItems(wanted, Array.from(view.ofUser(user)))) broken.push(`the allocations of ${user} are not as listed`);
    if (view.ofUserCount(user) !== wanted.length) broken.push(`the allocations of ${user} are not as counted`);
  }
  for (const { id } of view.vclusters()) {
    const wanted = all.filter((record) => isQueued(record) && record.spec.vcluster === id);
    const listed = Array.from(view.pending(id));
    if (!sameItems(wanted, listed)) broken.push(`the queue of ${id} differs from the pending allocations`);
    if (view.pendingCount(id) !== wanted.length) broken.push(`the queue of ${id} counts ${view.pendingCount(id)}`);
  }
  return broken;
}

function brokenPlaced(view: View): string[] {
  const wanted = Array.from(view.allocations()).filter((record) => isPlaced(record.phase));
  const broken: string[] = [];
  if (!sameItems(wanted, Array.from(view.placed()))) broken.push("the placed index differs from the phases");
  const held = Array.from(view.allocations()).filter(
    ({ phase }) => phase.kind === "pending" && phase.backoffUntil !== undefined,
  );
  if (!sameItems(held, Array.from(view.held()))) broken.push("the held index differs from the phases");
  const onHold = Array.from(view.allocations()).filter(({ hold }) => hold !== undefined);
  if (!sameItems(onHold, Array.from(view.onHold()))) broken.push("those on hold are not as listed");
  for (const kind of Object.keys(allocationMoves) as PhaseKind[]) {
    const count = Array.from(view.allocations()).filter(({ phase }) => phase.kind === kind).length;
    if (count !== view.phaseCount(kind)) broken.push(`${count} ${kind}, counted ${view.phaseCount(kind)}`);
  }
  if (view.placedCount !== wanted.length) broken.push(`${wanted.length} placed, counted ${view.placedCount}`);
  return broken;
}

function brokenNodeIndex(view: View): string[] {
  const nodes = Array.from(view.nodes());
  const free = nodes.filter((node) => node.state.kind === "ready" && node.claims.length === 0).length;
  const broken: string[] = [];
  if (nodes.length !== view.nodeCount) broken.push(`${nodes.length} nodes, counted ${view.nodeCount}`);
  if (free !== view.freeNodeCount) broken.push(`${free} free nodes, counted ${view.freeNodeCount}`);
  if (
    !ascending(
      nodes.map((node) => node.id),
      byCodeUnits,
    )
  )
    broken.push("nodes are not in order");
  return broken;
}

function brokenUsage(view: View): string[] {
  const nodes = new Map<TenantId, number>();
  for (const node of view.nodes()) {
    for (const tenant of new Set(node.claims.map((claim) => claim.tenant))) {
      nodes.set(tenant, (nodes.get(tenant) ?? 0) + 1);
    }
  }
  const running = new Map<TenantId, number>();
  for (const { spec, phase } of view.allocations()) {
    if (isPlaced(phase)) running.set(spec.tenant, (running.get(spec.tenant) ?? 0) + 1);
  }
  const broken: string[] = [];
  for (const { id } of view.tenants()) {
    const usage = view.usage(id);
    if (usage.nodes !== (nodes.get(id) ?? 0)) broken.push(`tenant ${id} holds other nodes than counted`);
    if (usage.running !== (running.get(id) ?? 0)) broken.push(`tenant ${id} runs other allocations than counted`);
  }
  return broken;
}

export function brokenDefaults(view: View): string[] {
  const defaults = Array.from(view.vclusters()).filter((vcluster) => vcluster.isDefault).length;
  return defaults > 1 ? [`${defaults} vClusters are the default`] : [];
}

function ascending<T>(items: readonly T[], compare: (a: T, b: T) => number): boolean {
  return items.every((item, i) => {
    const before = items[i - 1];
    return before === undefined || compare(before, item) < 0;
  });
}

type WithId = { readonly id: AllocationId };

/** The very same records in the same order. */
const sameItems = (a: readonly WithId[], b: readonly WithId[]): boolean =>
  a.length === b.length && a.every((item, i) => item === b[i]);
