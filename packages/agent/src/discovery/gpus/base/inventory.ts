// The GPUs of a node, of every vendor. A slice of a partitioned GPU is a unit, and the GPU it is cut from is then not.
// Units are numbered from 0 in bus order, slices in the order of their GPU; allocations receive these numbers.

export interface GpuUnit {
  readonly index: number;
  readonly vendor: "nvidia" | "amd";
  /** Without the vendor's name: "H200", "MI300X". */
  readonly model: string;
  readonly uuid: string;
  readonly memoryBytes: number;
  /** As in /sys/bus/pci/devices: "0000:3b:00.0"; that of the whole GPU for a slice. */
  readonly pci: string;
  /** Major and minor number of its device file, "195:0"; empty when unknown. */
  readonly device: string;
  readonly partitioned: boolean;
  /** Which part of its GPU a slice is. */
  readonly slice?: GpuSlice;
  /** CUDA's compute capability, or the architecture; empty when unknown. */
  readonly capability: string;
  readonly firmware: string;
  readonly temperatureC: number | null;
  /** Why the unit must not be used; empty when it is healthy. */
  readonly fault: string;
}

interface GpuSlice {
  readonly gpuInstance: number;
  readonly computeInstance: number;
}

export interface GpuTie {
  readonly a: number;
  readonly b: number;
  readonly kind: "nvlink" | "nvswitch" | "xgmi" | "pcie";
  /** 0 when unknown; then derived from the bus. */
  readonly bandwidthMBps: number;
  /** The path between them crosses sockets. */
  readonly far: boolean;
}

export interface GpuInventory {
  readonly driver: string;
  readonly units: readonly GpuUnit[];
  readonly ties: readonly GpuTie[];
  /** Megabytes per second between the CPU and the GPU of a superchip; 0 when unknown. */
  readonly coherentMBps: number;
  /** Faults of the whole driver: a library that does not start, a missing GPU. */
  readonly faults: readonly string[];
}

export const NO_GPUS: GpuInventory = { driver: "", units: [], ties: [], coherentMBps: 0, faults: [] };

/** "NVIDIA H100 80GB HBM3" and "NVIDIA H100 PCIe" both satisfy a request for an H100. */
export function modelName(product: string): string {
  const words = product
    .replace(/\((?:tm|r)\)/gi, " ")
    .split(/[\s/,]+/)
    .map((word) => word.replaceAll(/[^\w.-]/g, ""))
    .filter((word) => word !== "" && !MAKERS.has(word.toLowerCase()));
  const [first = ""] = words;
  const short = first.split("-")[0] ?? "";
  // The model number of gaming cards comes last.
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
