// What a job of our own trace may ask for beyond nodes and time. The lattice policy hands it to the real
// scheduler; the classic policies know nothing of it.

import { type NodeId, parseNodeId } from "@lattice/core";
import type { Bad, JsonObject } from "./record.ts";

export interface JobAsk {
  /** Null: the default one. */
  readonly vcluster: string | null;
  readonly gpuType: string;
  readonly gpuCount: number;
  readonly memoryBytes: number;
  readonly features: readonly string[];
  readonly tight: boolean;
  readonly cpuCores: number;
  readonly excludedNodes: readonly NodeId[];
  /** Never stopped for others. */
  readonly noPreempt: boolean;
}

/** Null when it asks for nothing special. */
export function parseAsk(alloc: JsonObject, bad: Bad): JobAsk | null {
  const { vcluster, gpu_type, gpu_count, memory_gb, features, topology, cpu_cores, excluded_nodes, no_preempt } = alloc;
  const known = [vcluster, gpu_type, gpu_count, memory_gb, features, topology, cpu_cores, excluded_nodes, no_preempt];
  if (known.every((value) => value === undefined)) return null;
  const text = (field: string, value: unknown): string => {
    if (typeof value === "string") return value;
    throw bad(`the field "alloc.${field}" must be a text`);
  };
  const amount = (field: string, value: unknown): number => {
    if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
    throw bad(`the field "alloc.${field}" must be a number from 0`);
  };
  const list = (value: unknown): readonly string[] => {
    if (Array.isArray(value) && value.every((entry) => typeof entry === "string")) return value;
    throw bad('the field "alloc.features" must be a list of texts');
  };
  const nodes = (value: unknown): readonly NodeId[] => {
    const ids = Array.isArray(value)
      ? value.map((entry) => (typeof entry === "string" ? parseNodeId(entry) : null))
      : [null];
    const good = ids.filter((id) => id !== null);
    if (good.length === ids.length) return good;
    throw bad('the field "alloc.excluded_nodes" must be a list of nodes');
  };
  if (no_preempt !== undefined && typeof no_preempt !== "boolean") {
    throw bad('the field "alloc.no_preempt" must be true or false');
  }
  if (topology !== undefined && topology !== "any" && topology !== "tight") {
    throw bad('the field "alloc.topology" must be "any" or "tight"');
  }
  return {
    vcluster: vcluster === undefined ? null : text("vcluster", vcluster),
    gpuType: gpu_type === undefined ? "" : text("gpu_type", gpu_type),
    gpuCount: gpu_count === undefined ? 0 : Math.floor(amount("gpu_count", gpu_count)),
    memoryBytes: memory_gb === undefined ? 0 : Math.round(amount("memory_gb", memory_gb) * 2 ** 30),
    features: features === undefined ? [] : list(features),
    tight: topology === "tight",
    cpuCores: cpu_cores === undefined ? 0 : Math.floor(amount("cpu_cores", cpu_cores)),
    excludedNodes: excluded_nodes === undefined ? [] : nodes(excluded_nodes),
    noPreempt: no_preempt === true,
  };
}
