// The corpus of job scripts on a real cluster: the server accepts accepted scripts and runs the ones that four plain
// nodes can run; refused ones submit nothing. Messages and statuses are those observed with Slurm.

import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { arrays } from "../doubles/slurm-corpus/arrays.ts";
import type { Case } from "../doubles/slurm-corpus/case.ts";
import { gpu } from "../doubles/slurm-corpus/gpu.ts";
import { mpi } from "../doubles/slurm-corpus/mpi.ts";
import { odd } from "../doubles/slurm-corpus/odd.ts";
import { refused } from "../doubles/slurm-corpus/refused.ts";
import type { CliResult } from "../harness/cli.ts";
import { eventually } from "../harness/eventually.ts";
import { cleanEnvironment } from "../harness/program.ts";
import { useCluster } from "../harness/use-cluster.ts";

const NODES = 4;
const cluster = useCluster({ nodes: NODES });
const corpus: readonly Case[] = [...mpi, ...arrays, ...gpu, ...odd, ...refused];
const accepted = corpus.filter((one) => one.refused === undefined);
const work = (): string => join(cluster.dir, "home");
const bin = (): string => join(cluster.dir, "slurm-bin");

beforeAll(async () => {
  expect(await cluster.cli(["compat", "install", bin()])).toMatchObject({ code: 0 });
  expect(await cluster.cli(["admin", "tenant", "create", "biology"])).toMatchObject({ code: 0 });
  mkdirSync(join(work(), "logs"), { recursive: true });
  const mapping = "partition_mapping: { normal: hpc-batch, debug: interactive, gpu: ml-training }\n";
  writeFileSync(join(work(), "compat.yaml"), mapping);
});

function slurm(words: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<CliResult> {
  return new Promise((resolve) => {
    const [program = "", ...args] = words;
    const env = { LATTICE_COMPAT: join(work(), "compat.yaml"), ...more };
    const child = spawn(join(bin(), program), args, {
      cwd: work(),
      env: cleanEnvironment({ ...cluster.cliEnvironment(env), PATH: `${bin()}:${process.env.PATH ?? ""}` }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.once("close", (code) => resolve({ code: code ?? -1, stdout, stderr }));
  });
}

/** The script's directives and comments, with its commands replaced by one that exists. */
function harmless({ script }: Case, earlier: string): string {
  const lines = (script.startsWith("#!") ? script : `#!/bin/bash\n${script}`).split("\n");
  const shell = /python/.test(lines[0] ?? "") ? "pass" : "true";
  const kept = lines.map((line) => (line.startsWith("#") || line.trim() === "" ? line : shell));
  return `${kept.join("\n").replaceAll(/(after\w+):[\d_:]+/g, `$1:${earlier}`)}\n${shell}\n`;
}

async function submit(one: Case, earlier: string): Promise<CliResult> {
  const path = join(work(), `${corpus.indexOf(one)}.sh`);
  writeFileSync(path, harmless(one, earlier));
  chmodSync(path, 0o755);
  const flags = (one.flags ?? []).map((flag) => flag.replace(/(after\w+):[\d_:]+/, `$1:${earlier}`));
  return slurm(["sbatch", "--parsable", ...flags, path, ...(one.args ?? [])], one.env);
}

/** It only requests time and nodes. */
function canRunHere({ becomes = {} }: Case): boolean {
  const { nodes = 1, constraints, uenv, workdir, hold, depends_on: edges = [] } = becomes;
  if (hold === true) return false;
  // Their dependencies have completed.
  if ((edges as { condition: string }[]).some(({ condition }) => condition === "failure")) return false;
  const { tasks = 1, tasks_per_node: perNode = 1, cpus_per_task: cpus = 1, total_gpus: gpus } = becomes;
  if (gpus !== undefined) return false;
  const cores = Math.max(Number(perNode), Math.ceil(Number(tasks) / NODES)) * Number(cpus);
  if (cores > availableParallelism()) return false;
  return constraints === undefined && uenv === undefined && workdir === undefined && Number(nodes) <= NODES;
}

const stateOf = async (id: string): Promise<string> =>
  (await slurm(["sacct", "-n", "-X", "-P", "-j", id, "--format=State"])).stdout.split("\n")[0] ?? "";

async function completed(id: string, what: string): Promise<void> {
  const end = await eventually({ what, everyMs: 200 }, async () => {
    const state = await stateOf(id);
    return /^(PENDING|CONFIGURING|RUNNING|COMPLETING|)$/.test(state) ? null : state;
  });
  expect(end, `${what} (${id})`).toBe("COMPLETED");
}

test("the server accepts every accepted script of the corpus and runs the feasible ones", async () => {
  const earlier = (await slurm(["sbatch", "--parsable", "--array=0-1", "--wrap", "true"])).stdout.trim();
  await completed(earlier, "the first array");
  const ids = new Map<Case, string>();
  for (const one of accepted) {
    const { code, stdout, stderr } = await submit(one, earlier);
    expect(`${code} ${stdout.trim()} ${stderr}`, one.title).toMatch(/^0 \d+ /);
    ids.set(one, stdout.trim());
  }
  const runs = accepted.filter(canRunHere);
  expect(runs.length).toBeGreaterThanOrEqual(25);
  for (const one of runs) {
    await completed(ids.get(one) ?? "", one.title);
  }
  for (const one of accepted.filter((each) => !canRunHere(each))) {
    const id = ids.get(one) ?? "";
    await eventually({ what: `${one.title} waits or has ended` }, async () => {
      const { stdout } = await slurm(["squeue", "-h", "-o", "%i %t"]);
      const waits = stdout.split("\n").some((line) => line.startsWith(`${id}`) && line.endsWith(" PD"));
      return waits || /COMPLETED|FAILED|CANCELLED/.test(await stateOf(id)) ? true : null;
    });
  }
  await slurm(["scancel", "-u", "root", ...ids.values()]);
});

test("refused scripts of the corpus submit nothing", async () => {
  const before = (await slurm(["squeue", "-h", "-a", "-t", "all", "-o", "%i"])).stdout;
  for (const one of corpus.filter(({ refused: why }) => why !== undefined)) {
    const { code, stdout, stderr } = await submit(one, "1");
    expect({ refused: code !== 0, stdout }, one.title).toEqual({ refused: true, stdout: "" });
    expect(stderr, one.title).toMatch(/^sbatch: (error|unrecognized option|option requires)/m);
  }
  expect((await slurm(["squeue", "-h", "-a", "-t", "all", "-o", "%i"])).stdout).toBe(before);
});

describe("messages and statuses match Slurm", () => {
  test("failing tasks are reported as in Slurm", async () => {
    const { code, stdout, stderr } = await slurm(["srun", "-n2", "--ntasks-per-node=2", "false"]);
    expect([code, stdout]).toEqual([1, ""]);
    // In one line, unless the first failure ends the second task.
    const one = "srun: error: \\S+: task [01]: (Exited with exit code 1|Killed|Terminated)\n";
    expect(stderr).toMatch(new RegExp(`^(srun: error: \\S+: tasks 0-1: Exited with exit code 1\n|${one}${one})$`));
  });

  test.each([
    [["sbatch", "--wrap", "true"], 0, [/^Submitted batch job \d+$/], []],
    [["sbatch", "--parsable", "--wrap", "true"], 0, [/^\d+$/], []],
    [["sbatch", "-W", "--wrap", "exit 4"], 4, [/^Submitted batch job \d+$/], []],
    [
      ["sbatch", "--nosuch", "x"],
      255,
      [],
      ["sbatch: unrecognized option '--nosuch'", 'Try "sbatch --help" for more information'],
    ],
    [["sbatch", "/nonexistent.sh"], 1, [], ["sbatch: error: Unable to open file /nonexistent.sh"]],
    [["sbatch", "-t", "bogus", "--wrap", "hostname"], 255, [], ["sbatch: error: Invalid --time specification"]],
    [["scancel", "999999"], 0, [], []],
    [["scontrol", "show", "job", "999999"], 1, [], ["slurm_load_jobs error: Invalid job id specified"]],
    [["scontrol", "show", "hostnames", "n[1-3]"], 0, ["n1", "n2", "n3"], []],
    [["scontrol", "show", "hostlist", "n1,n2,n3"], 0, ["n[1-3]"], []],
  ] as const)("%s", async (words, code, out, err) => {
    const result = await slurm(words);
    const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");
    const like = (expected: readonly (string | RegExp)[]) =>
      expected.map((one) => (typeof one === "string" ? one : expect.stringMatching(one)));
    expect({ ...result, stdout: lines(result.stdout), stderr: lines(result.stderr) }).toEqual({
      code,
      stdout: like(out),
      stderr: like(err),
    });
  });
});
