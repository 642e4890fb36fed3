// What a node lacks for a request: the predicate that decides is also the one that explains. The
// scheduler and `apply` both ask here, so a plan is never refused for a rule that its maker did not
// know. Whether the node is free is another question.

import type { Constraints } from "../allocation/spec.ts";
import type { NodeId } from "../ids.ts";
import type { Capabilities } from "./node.ts";

export type Offer = Pick<Capabilities, "cpuCores" | "memoryBytes" | "gpuType" | "gpuCount" | "features">;

export type Shortfall =
  | { readonly kind: "excluded" }
  | { readonly kind: "gpu_type"; readonly wanted: string; readonly has: string }
  | { readonly kind: "gpu_count"; readonly wanted: number; readonly has: number }
  | { readonly kind: "memory"; readonly wanted: number; readonly has: number }
  | { readonly kind: "cpu_cores"; readonly wanted: number; readonly has: number }
  | { readonly kind: "feature"; readonly wanted: string };

export function shortfalls(wanted: Constraints, id: NodeId, offer: Offer): readonly Shortfall[] {
  const found: Shortfall[] = [];
  if (wanted.excludedNodes.includes(id)) found.push({ kind: "excluded" });
  if (wanted.gpuType !== "" && wanted.gpuType.toLowerCase() !== offer.gpuType.toLowerCase()) {
    found.push({ kind: "gpu_type", wanted: wanted.gpuType, has: offer.gpuType });
  }
  if (wanted.gpuCount > offer.gpuCount) {
    found.push({ kind: "gpu_count", wanted: wanted.gpuCount, has: offer.gpuCount });
  }
  if (wanted.memoryBytes > offer.memoryBytes) {
    found.push({ kind: "memory", wanted: wanted.memoryBytes, has: offer.memoryBytes });
  }
  if (wanted.cpuCores > offer.cpuCores) {
    found.push({ kind: "cpu_cores", wanted: wanted.cpuCores, has: offer.cpuCores });
  }
  for (const feature of wanted.features) {
    if (!offer.features.includes(feature)) found.push({ kind: "feature", wanted: feature });
  }
  return found;
}

export const fits = (wanted: Constraints, id: NodeId, offer: Offer): boolean =>
  shortfalls(wanted, id, offer).length === 0;

export function describeShortfall(shortfall: Shortfall): string {
  switch (shortfall.kind) {
    case "excluded":
      return "is excluded";
    case "gpu_type":
      return `has ${shortfall.has === "" ? "no GPU" : shortfall.has} where ${shortfall.wanted} is asked for`;
    case "gpu_count":
      return `has ${shortfall.has} GPUs of ${shortfall.wanted}`;
    case "memory":
      return `has ${shortfall.has} bytes of memory of ${shortfall.wanted}`;
    case "cpu_cores":
      return `has ${shortfall.has} cores of ${shortfall.wanted}`;
    case "feature":
      return `lacks the feature ${shortfall.wanted}`;
  }
}
