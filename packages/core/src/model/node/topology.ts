// The topology of a node as reported by its agent: links between GPUs, memory domains with their cores and GPUs. All
// fields are optional; a node without them counts as uniform. Bandwidths are whole megabytes per second, because
// replicated state holds no floats.

export type GpuLinkKind = "nvlink" | "nvswitch" | "infinity_fabric" | "xgmi" | "pcie";

export interface GpuDevice {
  readonly index: number;
  readonly vendor: "nvidia" | "amd";
  readonly model: string;
  readonly memoryBytes: number;
  /** A slice of a partitioned GPU counts as a small GPU. */
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
  /** `null` when the NUMA node is unknown. */
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

/** Superchips are recognised by their GPU model, because agents may report no domains. */
const SUPERCHIP = /^(gh200|gb200|gb300|mi300a)\b/i;

export const isSuperchip = (gpuModel: string): boolean => SUPERCHIP.test(gpuModel);

/** CPU and GPU share one address space. */
export const hasUnifiedMemory = (offer: MemoryOffer): boolean =>
  isSuperchip(offer.gpuType) || (offer.memoryTopology?.domains.some((domain) => domain.kind === "unified") ?? false);

/** Returns the memory available to a request: expanders count only when requested. */
export const usableMemory = (offer: MemoryOffer, allowCxl: boolean): number =>
  offer.memoryBytes + (allowCxl ? (offer.cxlMemoryBytes ?? 0) : 0);
