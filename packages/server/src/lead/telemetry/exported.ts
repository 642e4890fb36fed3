// The metrics of scaling services for a time-series store: for each service the metric of its policy, by node, as its
// agents last reported it to the leader. Only plain names, and only metrics of policies: the page contains neither
// other nor sensitive work, and programs with many metrics do not fill the store. Pure.

import { type Allocation, attemptOn, isSensitive, parseMetric, type View } from "@lattice/core";
import type { Measured } from "./measures.ts";

/** Prefix of the names. */
export const EXPORTED_PREFIX = "lattice_allocation_";

/** Returns the text format of Prometheus. */
export function exportMeasures(view: Pick<View, "placed" | "vcluster">, measured: Measured): string {
  const families = new Map<string, string[]>();
  for (const record of view.placed()) {
    const metric = plainMetric(record);
    if (metric === null || !("nodes" in record.phase) || isSensitive(view, record.spec.vcluster)) continue;
    for (const node of record.phase.nodes) {
      const value = measured(node, record.id, attemptOn(record, node), metric);
      if (value === null) continue;
      const labels = `allocation=${JSON.stringify(record.id)},node_id=${JSON.stringify(node)}`;
      const lines = families.get(metric) ?? [];
      families.set(metric, lines);
      lines.push(`${EXPORTED_PREFIX}${metric}{${labels}} ${value}\n`);
    }
  }
  return Array.from(families, ([metric, lines]) => header(metric) + lines.join("")).join("");
}

const header = (metric: string): string =>
  `# HELP ${EXPORTED_PREFIX}${metric} Metric of scaling services, by node.\n# TYPE ${EXPORTED_PREFIX}${metric} gauge\n`;

function plainMetric({ spec }: Allocation): string | null {
  const parsed = parseMetric(spec.lifecycle.scale?.metric ?? "");
  return parsed === null || parsed.matchers !== null ? null : parsed.name;
}
