// The setup of the lattice policy: the machine, its vClusters with their weights, and how many processors of the trace
// make one node.

import { unchecked, WEIGHT_PROFILES } from "@lattice/core";
import type { Inventory } from "../../inventory/inventory.ts";
import { equalNodes } from "../../inventory/inventory.ts";
import type { Trace } from "../../trace/trace.ts";
import { DEFAULT_DEPTH, DEFAULT_PROFILES, type Profile, type Profiles } from "../../weights/profile.ts";

export interface LatticeSetup {
  readonly inventory: Inventory;
  /** The first is the default vCluster. */
  readonly profiles: readonly Profile[];
  /** Processors of the trace per node; 1 when the trace counts nodes. */
  readonly unit: number;
}

export interface SetupOptions {
  /** `null`: the nodes of the trace, or as many equal nodes as it states. */
  readonly inventory: Inventory | null;
  /** `null`: the vClusters of the trace, or one with the weights of HPC batch. */
  readonly profiles: Profiles | null;
  /** `null`: computed by `bestUnit`. */
  readonly unit: number | null;
}

export function latticeSetup(trace: Trace, { inventory, profiles, unit }: SetupOptions): LatticeSetup {
  const known = inventory ?? tracedInventory(trace);
  // Quotas count nodes, and so does a trace with quotas.
  const chosen = unit ?? (known === null && trace.limits.length === 0 ? bestUnit(trace) : 1);
  const traced = trace.vclusters.length > 0 ? trace.vclusters : DEFAULT_PROFILES.profiles;
  return {
    inventory: known ?? equalNodes(Math.floor(trace.nodes / chosen)),
    profiles: withNamedInTrace(profiles?.profiles ?? traced, trace),
    unit: chosen,
  };
}

/** Returns `null` when the trace does not list its nodes, or the machine was given another size. */
export function tracedInventory({ machine, nodes }: Trace): Inventory | null {
  if (machine.length === 0 || machine.length !== nodes) return null;
  return { nodes: [...machine].sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

/** Rounding up to whole nodes may add at most this part of the work. */
const ALLOWED_ROUNDING = 0.005;

/**
 * Returns how many processors make one node. Traces of large machines count processors, but the scheduler assigns
 * nodes: the largest power of two that divides the machine and adds little work by rounding.
 */
export function bestUnit(trace: Trace): number {
  let best = 1;
  for (let unit = 2; trace.nodes % unit === 0 && roundingOf(trace, unit) <= ALLOWED_ROUNDING; unit *= 2) best = unit;
  return best;
}

/** Returns the work that rounding up to whole nodes adds, as a part of all work. */
export function roundingOf({ count, size, run }: Trace, unit: number): number {
  let exact = 0;
  let added = 0;
  for (let row = 0; row < count; row += 1) {
    const processors = size[row] as number;
    exact += processors * (run[row] as number);
    added += (Math.ceil(processors / unit) * unit - processors) * (run[row] as number);
  }
  return exact === 0 ? 0 : added / exact;
}

/** A vCluster that only the trace names gets the weights of HPC batch. */
function withNamedInTrace(profiles: readonly Profile[], { requests }: Trace): readonly Profile[] {
  const known = new Set<string>(profiles.map((profile) => profile.vcluster));
  const added: Profile[] = [];
  for (const request of requests ?? []) {
    const name = request?.vcluster ?? null;
    if (name === null || known.has(name)) continue;
    known.add(name);
    added.push({
      vcluster: unchecked.vcluster(name),
      scheduler: "hpc_backfill",
      weights: WEIGHT_PROFILES.hpc_backfill,
      backfillDepth: DEFAULT_DEPTH,
    });
  }
  return [...profiles, ...added.sort((a, b) => (a.vcluster < b.vcluster ? -1 : 1))];
}

export const gpusOf = ({ nodes }: Inventory): number => nodes.reduce((sum, node) => sum + node.gpuCount, 0);
