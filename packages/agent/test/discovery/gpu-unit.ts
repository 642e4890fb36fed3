// One GPU as discovery finds it, with everything known of it; tests change what they are about.

import type { GpuUnit } from "../../src/discovery/gpus/base/inventory.ts";

export const unit = (index: number, more: Partial<GpuUnit> = {}): GpuUnit => ({
  index,
  vendor: "nvidia",
  model: "H100",
  uuid: `GPU-${index}`,
  memoryBytes: 80 * 2 ** 30,
  pci: `0000:${10 + index}:00.0`,
  device: `195:${index}`,
  partitioned: false,
  capability: "9.0",
  firmware: "96.00",
  temperatureC: 30,
  fault: "",
  ...more,
});
