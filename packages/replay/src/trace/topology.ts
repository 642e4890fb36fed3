// The topology of a node in a capture: links between GPUs, memory by domain, power. The real scheduler gets it
// unchanged, so its shape is checked here entry by entry.

import type { GpuTopology, MemoryTopology } from "@lattice/core";
import type { InventoryNode, NodeTopology } from "../inventory/inventory.ts";
import { type Bad, isObject, type TraceObject } from "./record.ts";

export function parseTopology(node: TraceObject, bad: Bad): Pick<InventoryNode, "topology"> {
  const amount = (field: string): number => {
    const given = node[field] ?? 0;
    if (typeof given === "number" && Number.isFinite(given) && given >= 0) return given;
    throw bad(`the field "node.${field}" must be a number from 0`);
  };
  const [cxl, watts] = [Math.round(amount("cxl_memory_gb") * 2 ** 30), Math.round(amount("power_watts"))];
  const { gpu_topology: gpus, memory_topology: memory } = node;
  const topology: NodeTopology = {
    ...(cxl === 0 ? null : { cxlMemoryBytes: cxl }),
    ...(watts === 0 ? null : { powerWatts: watts }),
    ...(gpus === undefined ? null : { gpuTopology: gpuTopology(gpus, bad) }),
    ...(memory === undefined ? null : { memoryTopology: memoryTopology(memory, bad) }),
  };
  return Object.keys(topology).length === 0 ? {} : { topology };
}

function gpuTopology(value: unknown, bad: Bad): GpuTopology {
  const good =
    isObject(value) &&
    listOf(value.gpus, (gpu) => isWhole(gpu.index) && isWhole(gpu.memoryBytes) && isText(gpu.model)) &&
    listOf(value.links, (link) => isWhole(link.a) && isWhole(link.b) && isWhole(link.bandwidthMBps)) &&
    isObject(value.nicAffinity) &&
    Object.values(value.nicAffinity).every(isText);
  if (!good) throw bad('the field "node.gpu_topology" has no lists of gpus and links, or no nicAffinity');
  return value as unknown as GpuTopology;
}

function memoryTopology(value: unknown, bad: Bad): MemoryTopology {
  const good =
    isObject(value) &&
    listOf(value.domains, (domain) => {
      const { id, kind, capacityBytes, cpus, gpus } = domain;
      return isWhole(id) && isText(kind) && isWhole(capacityBytes) && wholes(cpus) && wholes(gpus);
    }) &&
    listOf(value.interconnects, (link) => isWhole(link.a) && isWhole(link.b) && isWhole(link.bandwidthMBps));
  if (!good) throw bad('the field "node.memory_topology" has no lists of domains and interconnects');
  return value as unknown as MemoryTopology;
}

const isText = (value: unknown): boolean => typeof value === "string";
const isWhole = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const wholes = (value: unknown): boolean => Array.isArray(value) && value.every(isWhole);
const listOf = (value: unknown, isGood: (entry: TraceObject) => boolean): boolean =>
  Array.isArray(value) && value.every((entry) => isObject(entry) && isGood(entry));
