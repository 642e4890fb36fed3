// What can be measured of an allocation, also by other names, by which guides call the same things.

import { METRICS } from "@lattice/wire";
import { invalid } from "../../base/problems.ts";

const ALSO: Readonly<Record<string, (typeof METRICS)[number]>> = {
  gpu_util: "gpu_utilization",
  gpu_memory: "gpu_memory_used",
  gpu_power: "gpu_power_draw",
  cpu_util: "cpu_utilization",
  memory: "memory_used",
  network_tx: "network_tx_bytes",
  network_rx: "network_rx_bytes",
};

/** Each by its first name. Refuses what there is not. */
export function metricNames(asked: readonly string[]): readonly string[] {
  return asked.map((name) => {
    const known = METRICS.find((one) => one === name) ?? (Object.hasOwn(ALSO, name) ? ALSO[name] : undefined);
    if (known !== undefined) return known;
    throw invalid(
      "metrics",
      `there is no metric ${JSON.stringify(name.slice(0, 80))}`,
      `There are ${METRICS.join(", ")}.`,
    );
  });
}
