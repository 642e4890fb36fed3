// What a time-series store is to keep of services that scale: for each, the metric that its policy names, by node, as its agents have
// last told it; they tell the leader. Only plain names, and only what a policy asks for: the page says nothing of other work, nor of
// sensitive work at all, and programs that say many things of themselves do not fill the store. Pure.

import { type Allocation, attemptOn, isSensitive, parseMetric, type View } from "@lattice/core";
import type { Measured } from "./measures.ts";

/** What comes before the name. */
export const EXPORTED_PREFIX = "lattice_allocation_";

/** In the text format of Prometheus. */
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
  `# HELP ${EXPORTED_PREFIX}${metric} What services that scale by it say, by node.\n# TYPE ${EXPORTED_PREFIX}${metric} gauge\n`;

function plainMetric({ spec }: Allocation): string | null {
  const parsed = parseMetric(spec.lifecycle.scale?.metric ?? "");
  return parsed === null || parsed.matchers !== null ? null : parsed.name;
}
