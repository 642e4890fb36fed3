// Follows the metrics of an allocation: one line, or one JSON object, per event.

import type { MetricsEvent } from "@lattice/sdk";
import type { Context } from "../../context.ts";
import { clean } from "../../output/text.ts";
import { localTime } from "../../output/time.ts";
import { amountText } from "./amount.ts";

/** Streamed values carry no unit. */
const UNITS: Readonly<Record<string, string>> = {
  gpu_utilization: "percent",
  gpu_memory_used: "bytes",
  gpu_power_draw: "watts",
  cpu_utilization: "percent",
  memory_used: "bytes",
  network_tx_bytes: "bytes_per_second",
  network_rx_bytes: "bytes_per_second",
  io_read_bytes: "bytes_per_second",
  io_write_bytes: "bytes_per_second",
  io_latency_p99: "microseconds",
};

interface FollowOptions {
  readonly metrics: readonly string[];
  readonly alertsOnly?: boolean;
  readonly signal?: AbortSignal;
}

export async function followMetrics({ client, print }: Context, id: string, following: FollowOptions): Promise<void> {
  const { metrics, alertsOnly = false, signal } = following;
  const query = { ...(metrics.length === 0 ? {} : { metrics }), ...(alertsOnly ? { alerts_only: true } : {}) };
  for await (const event of client.streamMetrics(id, query, { signal })) {
    if (print.structured) await print.streamed(event);
    else for (const line of linesOf(event)) print.line(line);
    if (event.unavailable_reason !== undefined && !print.structured) print.note(event.unavailable_reason);
  }
}

export function linesOf({ at, node, values = {}, alerts = [] }: MetricsEvent): readonly string[] {
  const head = [localTime(at), node ?? ""].filter((part) => part !== "").join("  ");
  const figures = Object.entries(values).map(
    ([metric, value]) => `${metric}=${amountText(value, UNITS[metric]).join("")}`,
  );
  return [
    ...(figures.length === 0 ? [] : [`${head}  ${figures.join(" ")}`]),
    ...alerts.map(({ metric, severity = "warning", message = "" }) =>
      clean(`${head}  ${severity.toUpperCase()} ${metric}: ${message}`),
    ),
  ];
}
