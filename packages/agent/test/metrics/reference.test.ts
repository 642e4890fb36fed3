// The page of all metrics in the docs names those of an agent as they are.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { metricsPage } from "../../src/metrics/page.ts";
import { createTally } from "../../src/metrics/tally.ts";

const PAGE = join(import.meta.dirname, "../../../../docs/reference/metrics.md");
const [BEGIN, END] = ["<!-- agents -->\n", "<!-- /agents -->"];

/** Of an agent that has something to say in every family. */
function pageOf(): string {
  const tally = createTally(() => 1);
  tally.beat(1, 1);
  tally.echoed(1);
  tally.started(5);
  tally.refused("server_behind");
  tally.ended({ kind: "completed", exitCode: 0, message: "", atMs: 1 });
  const attempts = { waiting: 0, starting: 0, running: 1, stopping: 0, clearing: 0, ended: 0, archived: 0 };
  return metricsPage({
    nodeId: "n1",
    version: "1.0.0",
    tally,
    node: () => ({
      attempts,
      terminals: 0,
      logStreams: 0,
      reportsWaiting: 0,
      log: { waitingBytes: 0, droppedBytes: 0, trimmedBytes: 0 },
    }),
    connected: () => true,
    hellos: () => 1,
    cache: () => ({ sizeBytes: 1, usedBytes: 0, images: [] }),
    refused: () => new Map([["root", 1]]),
    faults: () => 0,
    internalErrors: () => 0,
    vitals: () => ({ load1: 1, memoryAvailableGb: 1 }),
    certificateEndsMs: () => 1_000,
  });
}

test("docs/reference/metrics.md lists every metric of an agent (UPDATE=1 rewrites it)", () => {
  const text = pageOf();
  const families = [...text.matchAll(/^# HELP (lattice_\S+) (.*)\n# TYPE \S+ (\S+)\n\S+?\{([^}]*)\}/gm)];
  const rows = families
    .map(([, name = "", help, kind, labels = ""]) => {
      const own = [...labels.matchAll(/(\w+)="/g)]
        .map(([, label]) => label)
        .filter((l) => l !== "node_id" && l !== "le");
      return `| \`${name}${own.length === 0 ? "" : `{${own.join(",")}}`}\` | ${kind} | ${help} |\n`;
    })
    .toSorted();
  const table = `\n| metric | kind | |\n|---|---|---|\n${rows.join("")}\n`;
  const page = readFileSync(PAGE, "utf8");
  const [before = "", rest = ""] = page.split(BEGIN);
  const [listed, after = ""] = rest.split(END);
  if (process.env.UPDATE === "1" || process.env.UPDATE_GENERATED === "1")
    writeFileSync(PAGE, `${before}${BEGIN}${table}${END}${after}`);
  else expect(listed).toBe(table);
  expect(rows.length).toBeGreaterThan(15);
});
