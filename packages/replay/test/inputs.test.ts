// Weight profiles and inventories: what is read of them, and how bad ones are refused by line.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { BadInput } from "../src/bad-input.ts";
import { readInventory } from "../src/inventory/read.ts";
import { readProfiles } from "../src/weights/read.ts";

const folder = mkdtempSync(join(tmpdir(), "rm-replay-inputs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));

function write(text: string): string {
  const path = join(folder, "input.yaml");
  writeFileSync(path, text);
  return path;
}

function refusal(read: (file: string) => unknown, text: string): { line: number | null; text: string } {
  try {
    read(write(text));
  } catch (error) {
    if (error instanceof BadInput) return { line: error.line, text: error.message };
    throw error;
  }
  throw new Error("it was read");
}

describe("weight profiles", () => {
  it("reads one block per vCluster, the first being the default", () => {
    const { profiles, warnings } = readProfiles(
      write(
        "hpc:\n  priority: 0.6\n  wait_time: 0.4\n  backfill_depth: 3\nml:\n  scheduler: ml_training\n  energy: 1\n",
      ),
    );
    expect(warnings).toEqual([]);
    expect(profiles).toMatchObject([
      { vcluster: "hpc", scheduler: "hpc_backfill", backfillDepth: 3, weights: { priority: 600, wait_time: 400 } },
      { vcluster: "ml", scheduler: "ml_training", backfillDepth: 1, weights: { energy: 1000, priority: 0 } },
    ]);
  });

  it("scales weights that do not sum to 1, with a warning that names the line", () => {
    // As the tuning guide prints it: the weights sum to 1.10.
    const { profiles, warnings } = readProfiles(
      write(
        "# current\nhpc-batch:\n  priority: 0.20\n  wait_time: 0.25\n  fair_share: 0.25\n  topology: 0.15\n" +
          "  data_readiness: 0.10\n  backlog: 0.05\n  energy: 0.00\n  checkpoint: 0.00\n  conformance: 0.10\n",
      ),
    );
    expect(profiles[0]?.weights).toMatchObject({ priority: 182, wait_time: 227, conformance: 91 });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(':3: the weights of "hpc-batch" sum to 1.1, not 1: scaled');
  });

  it.each([
    { name: "a negative weight", text: "hpc:\n  priority: 1\n  energy: -0.5\n", line: 3, says: "must not be negative" },
    { name: "not a number", text: "hpc:\n  priority: .nan\n", line: 2, says: "must be a finite number" },
    { name: "infinity", text: "hpc:\n  priority: .inf\n", line: 2, says: "must be a finite number" },
    { name: "a word", text: "hpc:\n  priority: high\n", line: 2, says: "must be a number" },
    { name: "an unknown weight", text: "hpc:\n  prioritty: 1\n", line: 2, says: "is no weight; there are: priority" },
    { name: "no weight", text: "hpc:\n  priority: 0\n", line: 2, says: "no weight above zero" },
    { name: "an unknown scheduler", text: "hpc:\n  scheduler: best\n", line: 2, says: "must be one of hpc_backfill" },
    { name: "half a depth", text: "hpc:\n  backfill_depth: 1.5\n", line: 2, says: "must be a whole number" },
    { name: "a bad name", text: '"a b":\n  priority: 1\n', line: 2, says: "is no name for a vCluster" },
    { name: "a list", text: "- 1\n", line: 1, says: "must be a map" },
    { name: "a key twice", text: "hpc:\n  energy: 1\n  energy: 1\n", line: 3, says: "unique" },
    { name: "broken YAML", text: "hpc: [1\n", line: 2, says: "]" },
    { name: "nothing", text: "", line: 1, says: "is empty" },
  ])("refuses by line: $name", ({ text, line, says }) => {
    const found = refusal(readProfiles, text);
    expect(found.text).toContain(says);
    expect(found.line).toBe(line);
  });
});

describe("inventories", () => {
  it("reads groups, hardware and conformance", () => {
    const { nodes } = readInventory(
      write(
        "groups: [g1, g2]\nnodes:\n  - prefix: gh\n    count: 4\n    groups: [g1, g2]\n    gpu_type: GH200\n" +
          "    gpu_count: 4\n    memory_gb: 512\n    conformance: a1\n    features: [nvme]\n" +
          "  - {prefix: cpu, group: g2, cpu_cores: 128, vcluster: hpc}\n",
      ),
    );
    expect(nodes.map(({ id, group }) => `${id} ${group}`)).toEqual(["cpu1 g2", "gh1 g1", "gh2 g1", "gh3 g2", "gh4 g2"]);
    expect(nodes[0]).toMatchObject({ cpuCores: 128, gpuCount: 0, homeVCluster: "hpc" });
    expect(nodes[1]).toMatchObject({ gpuType: "GH200", gpuCount: 4, memoryBytes: 2 ** 39, conformance: "a1" });
  });

  it.each([
    {
      name: "an unknown group",
      text: "groups: [g1]\nnodes:\n  - count: 2\n    group: g9\n",
      line: 4,
      says: 'names the unknown group "g9"; declared are g1',
    },
    { name: "no groups declared", text: "nodes:\n  - group: g1\n", line: 2, says: 'none is declared under "groups"' },
    { name: "an unknown field", text: "nodes:\n  - cuont: 2\n", line: 2, says: "is not known here" },
    { name: "an unknown section", text: "node: []\n", line: 1, says: '"groups" and "nodes"' },
    { name: "no nodes", text: "groups: [g1]\n", line: 1, says: "names no nodes" },
    { name: "a count of none", text: "nodes:\n  - count: 0\n", line: 2, says: "whole number from 1" },
    { name: "names twice", text: "nodes:\n  - count: 2\n  - count: 2\n", line: 3, says: "second node called n1" },
    { name: "a bad prefix", text: "nodes:\n  - prefix: 9x\n", line: 2, says: "begin with a letter" },
  ])("refuses by line: $name", ({ text, line, says }) => {
    const found = refusal(readInventory, text);
    expect(found.text).toContain(says);
    expect(found.line).toBe(line);
  });
});
