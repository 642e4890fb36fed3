// The names of metrics follow the rules of `promtool check metrics`: counters end in _total and other metrics do not, base
// units are spelled out, and no name repeats its kind.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const PAGE = join(import.meta.dirname, "../../docs/reference/metrics.md");
const UNITS =
  /_(ms|milliseconds?|us|microseconds?|ns|minutes?|hours?|days?|kb|mb|gb|kilobytes?|megabytes?|percent)(_|$)/;

function faults(name: string, kind: string, help: string): readonly string[] {
  const found: string[] = [];
  if (kind === "counter" && !name.endsWith("_total")) found.push("a counter ends in _total");
  if (kind !== "counter" && name.endsWith("_total")) found.push("only counters end in _total");
  if (/_(count|sum|bucket)$/.test(name)) found.push("the suffix is of histograms");
  if (/_(counter|gauge|histogram)(_|$)/.test(name)) found.push("a name does not repeat its kind");
  if (!/^[a-z][a-z0-9_]*$/.test(name)) found.push("names are in lower case, with underscores");
  if (UNITS.test(name)) found.push("units are seconds, bytes and ratios");
  if (help.trim() === "") found.push("a metric has a description");
  return found.map((fault) => `${name}: ${fault}`);
}

test("the rules find faults", () => {
  expect(faults("lattice_pool_total", "gauge", "Size.")).toHaveLength(1);
  expect(faults("lattice_calls", "counter", "Calls.")).toHaveLength(1);
  expect(faults("lattice_wait_ms", "histogram", "")).toHaveLength(2);
  expect(faults("lattice_wait_seconds", "histogram", "Wait.")).toEqual([]);
});

test("every metric of servers and agents has a name that follows the rules", () => {
  const rows = [...readFileSync(PAGE, "utf8").matchAll(/^\| `(\w+)[^`]*` \| (\w+) \| (.*) \|$/gm)];
  expect(rows.length).toBeGreaterThan(90);
  expect(rows.flatMap(([, name = "", kind = "", help = ""]) => faults(name, kind, help))).toEqual([]);
});
