// Converts the topology of a node in both directions: links between GPUs, memory domains and their cores. An unknown
// word is an error of the agent's message, reported by its field.

import { create } from "@bufbuild/protobuf";
import type {
  Capabilities,
  GpuDevice,
  GpuLinkKind,
  GpuTopology,
  MemoryDomainKind,
  MemoryInterconnect,
  MemoryTopology,
} from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/nodes_pb.ts";
import { GpuTopologySchema, MemoryTopologySchema } from "../../gen/lattice/v1/nodes_pb.ts";
import type { FieldList } from "../errors/field-list.ts";
import { bytesToGb, gbToBytes, isUsableGb } from "./amounts.ts";

const VENDORS: readonly GpuDevice["vendor"][] = ["nvidia", "amd"];
const LINKS: readonly GpuLinkKind[] = ["nvlink", "nvswitch", "infinity_fabric", "xgmi", "pcie"];
const DOMAINS: readonly MemoryDomainKind[] = ["dram", "hbm", "cxl", "unified"];
const JOINTS: readonly MemoryInterconnect["kind"][] = ["numa_link", "cxl_switch", "coherent_fabric"];

type Inside = Pick<Capabilities, "cxlMemoryBytes" | "powerWatts" | "gpuTopology" | "memoryTopology">;

export function insideToProto({ cxlMemoryBytes, powerWatts, gpuTopology, memoryTopology }: Inside) {
  return {
    cxlMemoryGb: bytesToGb(cxlMemoryBytes ?? 0),
    powerWatts: powerWatts ?? 0,
    ...(gpuTopology === undefined ? null : { gpuTopology: gpusToProto(gpuTopology) }),
    ...(memoryTopology === undefined ? null : { memoryTopology: memoryToProto(memoryTopology) }),
  };
}

/** Omits what the node did not report, so that records without it keep their hash. */
export function insideFromProto(c: proto.Capabilities, problems: FieldList): Inside {
  if (!isUsableGb(c.cxlMemoryGb)) problems.add("capabilities.cxl_memory_gb", "must be a number of GiB, 0 or more");
  const { gpuTopology, memoryTopology } = c;
  return {
    ...(isUsableGb(c.cxlMemoryGb) && c.cxlMemoryGb > 0 ? { cxlMemoryBytes: gbToBytes(c.cxlMemoryGb) } : null),
    ...(c.powerWatts > 0 ? { powerWatts: c.powerWatts } : null),
    ...(gpuTopology === undefined ? null : { gpuTopology: gpusFromProto(gpuTopology, problems) }),
    ...(memoryTopology === undefined ? null : { memoryTopology: memoryFromProto(memoryTopology, problems) }),
  };
}

const gpusToProto = ({ gpus, links, nicAffinity }: GpuTopology): proto.GpuTopology =>
  create(GpuTopologySchema, {
    gpus: gpus.map(({ memoryBytes, ...gpu }) => ({ ...gpu, memoryGb: bytesToGb(memoryBytes) })),
    links: links.map(({ bandwidthMBps, ...link }) => ({ ...link, bandwidthMbps: bandwidthMBps })),
    nicAffinity: { ...nicAffinity },
  });

function gpusFromProto({ gpus, links, nicAffinity }: proto.GpuTopology, problems: FieldList): GpuTopology {
  const field = "capabilities.gpu_topology";
  return {
    gpus: gpus.map(({ index, vendor, model, memoryGb, partitioned }) => ({
      index,
      vendor: oneOf(VENDORS, vendor, `${field}.gpus.vendor`, problems),
      model,
      memoryBytes: bytesOf(memoryGb, `${field}.gpus.memory_gb`, problems),
      partitioned,
    })),
    links: links.map(({ a, b, kind, bandwidthMbps }) => ({
      a,
      b,
      kind: oneOf(LINKS, kind, `${field}.links.kind`, problems),
      bandwidthMBps: bandwidthMbps,
    })),
    nicAffinity: { ...nicAffinity },
  };
}

const memoryToProto = ({ domains, interconnects }: MemoryTopology): proto.MemoryTopology =>
  create(MemoryTopologySchema, {
    domains: domains.map(({ id, kind, capacityBytes, numaNode, cpus, gpus }) => ({
      id,
      kind,
      capacityGb: bytesToGb(capacityBytes),
      ...(numaNode === null ? null : { numaNode }),
      cpus: [...cpus],
      gpus: [...gpus],
    })),
    interconnects: interconnects.map(({ bandwidthMBps, ...joint }) => ({ ...joint, bandwidthMbps: bandwidthMBps })),
  });

function memoryFromProto({ domains, interconnects }: proto.MemoryTopology, problems: FieldList): MemoryTopology {
  const field = "capabilities.memory_topology";
  return {
    domains: domains.map(({ id, kind, capacityGb, numaNode, cpus, gpus }) => ({
      id,
      kind: oneOf(DOMAINS, kind, `${field}.domains.kind`, problems),
      capacityBytes: bytesOf(capacityGb, `${field}.domains.capacity_gb`, problems),
      numaNode: numaNode ?? null,
      cpus: [...cpus],
      gpus: [...gpus],
    })),
    interconnects: interconnects.map(({ a, b, kind, bandwidthMbps }) => ({
      a,
      b,
      kind: oneOf(JOINTS, kind, `${field}.interconnects.kind`, problems),
      bandwidthMBps: bandwidthMbps,
    })),
  };
}

function oneOf<T extends string>(known: readonly T[], word: string, field: string, problems: FieldList): T {
  const found = known.find((one) => one === word);
  if (found === undefined) problems.add(field, `must be one of ${known.join(", ")}`);
  return found ?? (word as T);
}

function bytesOf(gb: number, field: string, problems: FieldList): number {
  if (isUsableGb(gb)) return gbToBytes(gb);
  problems.add(field, "must be a number of GiB, 0 or more");
  return 0;
}
