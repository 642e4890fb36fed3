// Requested features that no node has. Such work is accepted, since a node with the feature may join, but a mistyped
// name would wait forever: the warning names the feature and the nearest one that nodes have.

import type { AllocationSpec, View } from "@lattice/core";
import { nearest } from "@lattice/wire";

/** Keeps the warning short. */
const MAX_NAMED = 8;

/** One sentence for each, without its full stop. */
export function unavailableFeatures(view: View, { resources }: AllocationSpec): readonly string[] {
  const missing = new Set(resources.constraints.features);
  if (missing.size === 0) return [];
  const nodesWith = new Map<string, number>();
  for (const { capabilities } of view.nodes()) {
    for (const feature of new Set(capabilities.features)) {
      missing.delete(feature);
      nodesWith.set(feature, (nodesWith.get(feature) ?? 0) + 1);
    }
    if (missing.size === 0) return [];
  }
  return [...missing].map((feature) => `no node has the feature "${feature}" (${alternativeTo(feature, nodesWith)})`);
}

function alternativeTo(feature: string, nodesWith: ReadonlyMap<string, number>): string {
  if (nodesWith.size === 0) return "no node has any feature";
  const near = nearest(feature, [...nodesWith.keys()].sort());
  if (near !== null) return `the nearest is "${near}", which ${countOf(nodesWith.get(near) ?? 0)}`;
  const common = [...nodesWith].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).map(([name]) => name);
  const more = common.length > MAX_NAMED ? ` and ${common.length - MAX_NAMED} more` : "";
  return `nodes have ${common.slice(0, MAX_NAMED).join(", ")}${more}`;
}

const countOf = (nodes: number): string => (nodes === 1 ? "1 node has" : `${nodes} nodes have`);
