// What is known of a node's GPUs, whoever made them. A slice of a partitioned GPU is a unit of its own, and the
// GPU it is cut from is then none. Units are numbered from 0 in the order of the bus, slices in the order of
// their GPU; that number is the one that allocations are given.

export interface GpuUnit {
  readonly index: number;
  readonly vendor: "nvidia" | "amd";
  /** Without the maker's name: "H200", "MI300X". */
  readonly model: string;
  readonly uuid: string;
  readonly memoryBytes: number;
  /** As in /sys/bus/pci/devices: "0000:3b:00.0"; that of the whole GPU for a slice. */
  readonly pci: string;
  /** Numbers of its device file, "195:0"; empty: not known. */
  readonly device: string;
  readonly partitioned: boolean;
  /** Which part of its GPU a slice is. */
  readonly slice?: GpuSlice;
  /** CUDA's compute capability, or the architecture; empty: not told. */
  readonly capability: string;
  readonly firmware: string;
  readonly temperatureC: number | null;
  /** In words, why it must not be used; empty: it is sound. */
  readonly fault: string;
}

export interface GpuSlice {
  readonly gpuInstance: number;
  readonly computeInstance: number;
}

export interface GpuTie {
  readonly a: number;
  readonly b: number;
  readonly kind: "nvlink" | "nvswitch" | "xgmi" | "pcie";
  /** 0: not told, to be found from the bus. */
  readonly bandwidthMBps: number;
  /** The way between them leads over another socket. */
  readonly far: boolean;
}

export interface GpuInventory {
  readonly driver: string;
  readonly units: readonly GpuUnit[];
  readonly ties: readonly GpuTie[];
  /** Megabytes a second between the CPU and the GPU of a superchip; 0: not told. */
  readonly coherentMBps: number;
  /** Of the whole: a library that does not start, a GPU that is gone. */
  readonly faults: readonly string[];
}

export const NO_GPUS: GpuInventory = { driver: "", units: [], ties: [], coherentMBps: 0, faults: [] };

/** "NVIDIA H100 80GB HBM3" and "NVIDIA H100 PCIe" are both an H100 to those who ask for one. */
export function modelName(product: string): string {
  const words = product
    .replace(/\((?:tm|r)\)/gi, " ")
    .split(/[\s/,]+/)
    .map((word) => word.replaceAll(/[^\w.-]/g, ""))
    .filter((word) => word !== "" && !MAKERS.has(word.toLowerCase()));
  const [first = ""] = words;
  const short = first.split("-")[0] ?? "";
  // Gaming cards have their number last.
  return (/^[a-z]+\d/i.test(short) ? short : words.join("-")).slice(0, MAX_MODEL_LENGTH);
}

const MAKERS = new Set([
  "nvidia",
  "amd",
  "instinct",
  "tesla",
  "radeon",
  "graphics",
  "advanced",
  "micro",
  "devices",
  "inc.",
]);
const MAX_MODEL_LENGTH = 63;

/** Bus addresses differ in case and in the length of their domain from one source to the next. */
export function pciAddress(text: string): string {
  const match = /^(?:([0-9a-f]{1,8}):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})\.([0-7])$/i.exec(text.trim());
  if (match === null) return "";
  const [, domain = "0", bus = "", device = "", part = ""] = match;
  const short = Number.parseInt(domain, 16).toString(16).padStart(4, "0");
  return `${short}:${bus.padStart(2, "0")}:${device.padStart(2, "0")}.${part}`.toLowerCase();
}
