// The alert rules name metrics that a server or an agent really has.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { createMetrics } from "../../src/base/observe/index.ts";

const path = new URL("../../../../infra/prometheus/alerts.yaml", import.meta.url);
const rules = (
  parse(readFileSync(path, "utf8")) as {
    groups: { rules: { alert: string; expr: string; labels: { severity: string } }[] }[];
  }
).groups.flatMap((group) => group.rules);

describe("alert rules", () => {
  const known = new Set(
    createMetrics()
      .families()
      .map(({ name }) => name),
  );

  test.each(rules)("$alert uses known metrics and has a severity", ({ expr, labels }) => {
    const used = expr.match(/\blattice_[a-z0-9_]+/g) ?? [];
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((name) => !known.has(name) && !name.startsWith("lattice_agent_"))).toEqual([]);
    expect(["critical", "warning"]).toContain(labels.severity);
  });
});
