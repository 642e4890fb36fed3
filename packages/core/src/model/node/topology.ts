// What an agent may tell of a node's inside: how GPUs are linked, which memory is near which cores and
// GPUs. All of it is optional; a node that tells nothing counts as uniform. Bandwidths are whole
// megabytes per second, because replicated state holds no floats.

export type GpuLinkKind = "nvlink" | "nvswitch" | "infinity_fabric" | "xgmi" | "pcie";

export interface GpuDevice {
  readonly index: number;
  readonly vendor: "nvidia" | "amd";
  readonly model: string;
  readonly memoryBytes: number;
  /** A slice of a partitioned GPU; it counts as a small GPU of its own. */
  readonly partitioned: boolean;
}

interface GpuLink {
  readonly a: number;
  readonly b: number;
  readonly kind: GpuLinkKind;
  readonly bandwidthMBps: number;
}

export interface GpuTopology {
  readonly gpus: readonly GpuDevice[];
  readonly links: readonly GpuLink[];
  /** GPU index to the name of the nearest NIC. */
  readonly nicAffinity: Readonly<Record<string, string>>;
}

export type MemoryDomainKind = "dram" | "hbm" | "cxl" | "unified";

export interface MemoryDomain {
  readonly id: number;
  readonly kind: MemoryDomainKind;
  readonly capacityBytes: number;
  /** `null` where the system knows no NUMA node for it. */
  readonly numaNode: number | null;
  readonly cpus: readonly number[];
  readonly gpus: readonly number[];
}

export interface MemoryInterconnect {
  readonly a: number;
  readonly b: number;
  readonly kind: "numa_link" | "cxl_switch" | "coherent_fabric";
  readonly bandwidthMBps: number;
}

export interface MemoryTopology {
  readonly domains: readonly MemoryDomain[];
  readonly interconnects: readonly MemoryInterconnect[];
}

interface MemoryOffer {
  /** Local memory only. */
  readonly memoryBytes: number;
  readonly cxlMemoryBytes?: number;
  readonly gpuType: string;
  readonly memoryTopology?: MemoryTopology;
}

/** Superchips are known by the model of their GPU, as their agents may tell no domains. */
const SUPERCHIP = /^(gh200|gb200|gb300|mi300a)\b/i;

export const isSuperchip = (gpuModel: string): boolean => SUPERCHIP.test(gpuModel);

/** CPU and GPU share one address space. */
export const hasUnifiedMemory = (offer: MemoryOffer): boolean =>
  isSuperchip(offer.gpuType) || (offer.memoryTopology?.domains.some((domain) => domain.kind === "unified") ?? false);

/** What a request may count on: expanders only where it asked for them. */
export const usableMemory = (offer: MemoryOffer, allowCxl: boolean): number =>
  offer.memoryBytes + (allowCxl ? (offer.cxlMemoryBytes ?? 0) : 0);
