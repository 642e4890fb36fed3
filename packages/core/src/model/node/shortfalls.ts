// The shortfalls of a node for a request: the predicate that decides is also the one that explains. The scheduler and
// `apply` both use it, so that no plan is rejected by a rule that the scheduler did not apply. Whether the node is free
// is checked elsewhere.

import type { NodeId } from "../../base/ids.ts";
import type { Constraints } from "../spec/spec.ts";
import type { Capabilities } from "./node.ts";
import { hasUnifiedMemory, usableMemory } from "./topology.ts";

export type NodeOffer = Pick<
  Capabilities,
  "cpuCores" | "memoryBytes" | "gpuType" | "gpuCount" | "features" | "cxlMemoryBytes" | "memoryTopology"
>;

export type Shortfall =
  | { readonly kind: "excluded" }
  | { readonly kind: "gpu_type"; readonly wanted: string; readonly has: string }
  | { readonly kind: "gpu_count"; readonly wanted: number; readonly has: number }
  | { readonly kind: "memory"; readonly wanted: number; readonly has: number }
  | { readonly kind: "unified_memory" }
  | { readonly kind: "cpu_cores"; readonly wanted: number; readonly has: number }
  | { readonly kind: "feature"; readonly wanted: string };

export function shortfalls(wanted: Constraints, id: NodeId, offer: NodeOffer): readonly Shortfall[] {
  const found: Shortfall[] = [];
  if (wanted.excludedNodes.includes(id)) found.push({ kind: "excluded" });
  if (wanted.gpuType !== "" && wanted.gpuType.toLowerCase() !== offer.gpuType.toLowerCase()) {
    found.push({ kind: "gpu_type", wanted: wanted.gpuType, has: offer.gpuType });
  }
  if (wanted.gpuCount > offer.gpuCount) {
    found.push({ kind: "gpu_count", wanted: wanted.gpuCount, has: offer.gpuCount });
  }
  const memoryBytes = usableMemory(offer, wanted.allowCxlMemory === true);
  if (wanted.memoryBytes > memoryBytes) {
    found.push({ kind: "memory", wanted: wanted.memoryBytes, has: memoryBytes });
  }
  if (wanted.requireUnifiedMemory === true && !hasUnifiedMemory(offer)) found.push({ kind: "unified_memory" });
  if (wanted.cpuCores > offer.cpuCores) {
    found.push({ kind: "cpu_cores", wanted: wanted.cpuCores, has: offer.cpuCores });
  }
  for (const feature of wanted.features) {
    if (!offer.features.includes(feature)) found.push({ kind: "feature", wanted: feature });
  }
  return found;
}

export const fits = (wanted: Constraints, id: NodeId, offer: NodeOffer): boolean =>
  shortfalls(wanted, id, offer).length === 0;

export function describeShortfall(shortfall: Shortfall): string {
  switch (shortfall.kind) {
    case "excluded":
      return "is excluded";
    case "gpu_type":
      return `has ${shortfall.has === "" ? "no GPU" : shortfall.has} where ${shortfall.wanted} is requested`;
    case "gpu_count":
      return `has ${shortfall.has} GPUs of ${shortfall.wanted}`;
    case "memory":
      return `has ${shortfall.has} bytes of memory of ${shortfall.wanted}`;
    case "unified_memory":
      return "has no memory that CPU and GPU share";
    case "cpu_cores":
      return `has ${shortfall.has} cores of ${shortfall.wanted}`;
    case "feature":
      return `lacks the feature ${shortfall.wanted}`;
  }
}
