// The reference page lists the metrics of a server.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createMetrics } from "../../../src/base/observe/index.ts";

const PAGE = join(import.meta.dirname, "../../../../../docs/reference/metrics.md");
const [BEGIN, END] = ["<!-- servers -->\n", "<!-- /servers -->"];

test("docs/reference/metrics.md lists every metric of a server (UPDATE=1 rewrites it)", () => {
  const own = createMetrics()
    .families()
    .filter(({ name }) => name.startsWith("lattice_"))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const rows = own.map(({ name, kind, help, labels }) => {
    const by = labels.length === 0 ? "" : `{${labels.join(",")}}`;
    return `| \`${name}${by}\` | ${kind} | ${help} |\n`;
  });
  const table = `\n| metric | kind | |\n|---|---|---|\n${rows.join("")}\n`;
  const page = readFileSync(PAGE, "utf8");
  const [before = "", rest = ""] = page.split(BEGIN);
  const [listed, after = ""] = rest.split(END);
  if (process.env.UPDATE === "1" || process.env.UPDATE_GENERATED === "1")
    writeFileSync(PAGE, `${before}${BEGIN}${table}${END}${after}`);
  else expect(listed).toBe(table);
  expect(own.length).toBeGreaterThan(60);
});
