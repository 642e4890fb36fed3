// The names of metrics in requests, with aliases that other tools use.

import { METRICS } from "@lattice/wire";
import { invalid } from "../../base/problems.ts";

const ALIASES: Readonly<Record<string, (typeof METRICS)[number]>> = {
  gpu_util: "gpu_utilization",
  gpu_memory: "gpu_memory_used",
  gpu_power: "gpu_power_draw",
  cpu_util: "cpu_utilization",
  memory: "memory_used",
  network_tx: "network_tx_bytes",
  network_rx: "network_rx_bytes",
};

/** Replaces aliases by the main names. Throws `invalid_argument` for an unknown name. */
export function metricNames(names: readonly string[]): readonly string[] {
  return names.map((name) => {
    const known = METRICS.find((one) => one === name) ?? (Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined);
    if (known !== undefined) return known;
    throw invalid(
      "metrics",
      `there is no metric ${JSON.stringify(name.slice(0, 80))}`,
      `The metrics are ${METRICS.join(", ")}.`,
    );
  });
}
