// What the lattice policy replays on: the machine, its vClusters with their weights, and how many of the
// trace's processors make one node.

import { type VClusterId, WEIGHT_PROFILES } from "@lattice/core";
import type { Inventory } from "../../inventory/inventory.ts";
import { equalNodes } from "../../inventory/inventory.ts";
import type { Trace } from "../../trace/trace.ts";
import { DEFAULT_DEPTH, DEFAULT_PROFILES, type Profile, type Profiles } from "../../weights/profile.ts";

export interface LatticeSetup {
  readonly inventory: Inventory;
  /** The first is the default vCluster. */
  readonly profiles: readonly Profile[];
  /** Processors of the trace per node of the machine; 1 where the trace counts nodes. */
  readonly unit: number;
}

export interface SetupOptions {
  /** Null: as the trace lists them, or equal nodes, as many as it says. */
  readonly inventory: Inventory | null;
  /** Null: as the trace lists them, or one vCluster with the weights of HPC batch. */
  readonly profiles: Profiles | null;
  /** Null: as `bestUnit` finds. */
  readonly unit: number | null;
}

export function latticeSetup(trace: Trace, { inventory, profiles, unit }: SetupOptions): LatticeSetup {
  const known = inventory ?? tracedInventory(trace);
  // Quotas count nodes: so does a trace that has any.
  const chosen = unit ?? (known === null && trace.limits.length === 0 ? bestUnit(trace) : 1);
  const traced = trace.vclusters.length > 0 ? trace.vclusters : DEFAULT_PROFILES.profiles;
  return {
    inventory: known ?? equalNodes(Math.floor(trace.nodes / chosen)),
    profiles: withNamedInTrace(profiles?.profiles ?? traced, trace),
    unit: chosen,
  };
}

/** Null where the trace does not list its nodes, or the machine was given another size. */
export function tracedInventory({ machine, nodes }: Trace): Inventory | null {
  if (machine.length === 0 || machine.length !== nodes) return null;
  return { nodes: [...machine].sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

/** Rounding up to whole nodes may add this much work, and no more. */
const ALLOWED_ROUNDING = 0.005;

/**
 * Traces of large machines count processors, but what is handed out is nodes. The largest power of two
 * that divides the machine and hardly adds work when jobs are rounded up to it.
 */
export function bestUnit(trace: Trace): number {
  let best = 1;
  for (let unit = 2; trace.nodes % unit === 0 && roundingOf(trace, unit) <= ALLOWED_ROUNDING; unit *= 2) best = unit;
  return best;
}

/** How much work rounding up to whole nodes adds, as a part of all work. */
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
function withNamedInTrace(profiles: readonly Profile[], { asks }: Trace): readonly Profile[] {
  const known = new Set<string>(profiles.map((profile) => profile.vcluster));
  const added: Profile[] = [];
  for (const ask of asks ?? []) {
    const name = ask?.vcluster ?? null;
    if (name === null || known.has(name)) continue;
    known.add(name);
    added.push({
      vcluster: name as VClusterId,
      scheduler: "hpc_backfill",
      weights: WEIGHT_PROFILES.hpc_backfill,
      backfillDepth: DEFAULT_DEPTH,
    });
  }
  return [...profiles, ...added.sort((a, b) => (a.vcluster < b.vcluster ? -1 : 1))];
}

export const gpusOf = ({ nodes }: Inventory): number => nodes.reduce((sum, node) => sum + node.gpuCount, 0);
