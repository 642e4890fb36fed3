// `srun`: inside a job, tasks on its nodes; outside of one, nodes of its own, the tasks, and the nodes
// given back. The exit status is that of the tasks. With --pty the first task has the caller's terminal.
// Plain steps are begun by a small program where there is one (packages/cli/native/srun.c), which reads the same
// words to the same request: what changes here changes there.

import { fstatSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { LaunchRequest } from "@lattice/sdk";
import { expandHostlist, ProblemError } from "@lattice/wire";
import { tellWhatBroke } from "../commands/launch/broken.ts";
import { clean } from "../output/text.ts";
import { allocate, nodesRequest, patienceOf } from "./allocation.ts";
import type { SlurmCommand } from "./command.ts";
import { complain, type Desk } from "./desk.ts";
import { JOB_RULES, jobOptions } from "./job-options.ts";
import { notOffered, Refusal, refuse } from "./refusal.ts";
import { standBy } from "./stand-by.ts";
import { runStep } from "./step.ts";
import { stepOutput } from "./step-output.ts";
import { exportedVariables } from "./variables.ts";
import { type Grammar, has, lastValue, listOf, type OptionRule, readWords, type Words } from "./words.ts";

/** Something else would run without them. */
const NEEDED: Readonly<Record<string, string>> = {
  bcast: "put the program where all nodes see it",
  prolog: "call it before srun",
  epilog: "call it after srun",
  "task-prolog": "call it in the command",
  "task-epilog": "call it in the command",
  "het-group": "submit a job for each kind of node",
  x11: "use `ssh -X`",
  "test-only": "ask with sbatch --test-only",
};

const GRAMMAR: Grammar = {
  program: "srun",
  stopsAtOperand: true,
  exit: 255,
  rules: [
    ...JOB_RULES.filter(({ long }) => long !== "array"),
    { long: "label", short: "l" },
    { long: "pty" },
    { long: "unbuffered", short: "u" },
    { long: "mpi", value: "required" },
    { long: "jobid", value: "required" },
    { long: "kill-on-bad-exit", short: "K", value: "optional" },
    { long: "cpu-bind", value: "required" },
    { long: "exact" },
    { long: "overlap" },
    { long: "whole" },
    { long: "immediate", short: "I", value: "optional" },
    { long: "wait", short: "W", value: "required" },
    { long: "multi-prog" },
    { long: "relative", short: "r", value: "required" },
    // These say nothing here, and nothing is lost without them.
    { long: "threads", short: "T", value: "required" },
    { long: "disable-status", short: "X" },
    { long: "preserve-env", short: "E" },
    { long: "accel-bind", value: "required" },
    { long: "slurmd-debug", value: "required" },
    { long: "resv-ports", value: "optional" },
    { long: "interactive" },
    ...Object.keys(NEEDED).map((long): OptionRule => ({ long, value: "optional" })),
    { long: "stand-by" },
  ],
};

export const command: SlurmCommand = {
  help: "Usage: srun [-n TASKS] [-N NODES] [--ntasks-per-node N] [-c CPUS] [-w NODES] [-l] [-t TIME] [-p PARTITION] [--mpi TYPE] [--export LIST] [--jobid ID] [--pty] COMMAND [ARGS]",
  run: async (desk, argv) => {
    tellWhatBroke(desk.env.LATTICE_LAUNCH_PROBLEM);
    const words = readWords(GRAMMAR, argv);
    const inside = lastValue(words, "jobid") ?? (desk.env.LATTICE_ALLOC_ID || desk.env.SLURM_JOB_ID || undefined);
    if (has(words, "stand-by")) return standBy(desk, inside ?? "");
    if (lastValue(words, "mpi") === "list") return listMpi();
    if (has(words, "multi-prog"))
      throw notOffered("srun", "--multi-prog", "start each program with an srun of its own");
    if (words.operands.length === 0) throw new Refusal(["srun: fatal: No command given to execute."]);
    refuseWithout(words);
    const stop = new AbortController();
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => stop.abort());
    if (inside === undefined) return ownNodes(desk, words, stop.signal);
    return step(desk, words, inside, stop.signal).catch((error: unknown) => {
      throw unconfirmed(error, inside);
    });
  },
};

/** A job that is not there, as Slurm says it. */
function unconfirmed(error: unknown, id: string): unknown {
  if (!(error instanceof ProblemError) || error.problem.code !== "unknown_allocation") return error;
  return new Refusal([
    `srun: error: Unable to confirm allocation for job ${clean(id)}: Invalid job id specified`,
    `srun: Check SLURM_JOB_ID environment variable. Expired or invalid job ${clean(id)}`,
  ]);
}

function refuseWithout(words: Words): void {
  const [name, instead] = Object.entries(NEEDED).find(([long]) => has(words, long)) ?? [];
  if (name !== undefined && instead !== undefined) throw notOffered("srun", `--${name}`, instead);
}

async function ownNodes(desk: Desk, words: Words, signal: AbortSignal): Promise<number> {
  const name = lastValue(words, "job-name") ?? basename(words.operands[0] ?? "");
  const options = jobOptions("srun", words, desk.env, "SLURM");
  // Tasks share a node unless more nodes are asked for: whole nodes are many cores.
  const spread = has(words, "nodes") || has(words, "ntasks-per-node");
  const asked = spread ? options : options.filter((option) => option.name !== "ntasks");
  const held = await allocate(desk, nodesRequest(desk, asked, name), { signal, seconds: patienceOf(words) });
  let exit = 1;
  try {
    exit = await step(desk, words, held.id, signal);
  } finally {
    await held.end(exit);
  }
  return exit;
}

function step(desk: Desk, words: Words, id: string, signal: AbortSignal): Promise<number> {
  const request = { ...requestOf(desk, words), ...callerOf(desk, id) };
  const output = stepOutput({
    output: lastValue(words, "output"),
    error: lastValue(words, "error"),
    id,
    name: lastValue(words, "job-name") ?? basename(words.operands[0] ?? ""),
    cwd: desk.cwd,
  });
  return runStep(desk, { id, request, label: has(words, "label"), output, signal });
}

const MPI = { pmi2: "pmi2", pmix: "pmix", none: "none" } as const;

function requestOf(desk: Desk, words: Words): LaunchRequest {
  const [tasks, nodes, perNode] = ["ntasks", "nodes", "ntasks-per-node"].map((name) => countOf(words, name));
  const mpi = lastValue(words, "mpi");
  const pmi = mpi === undefined ? undefined : MPI[mpi.replace(/_v\d+$/, "") as keyof typeof MPI];
  if (mpi !== undefined && pmi === undefined)
    throw refuse("srun", `Couldn't find the specified plugin name for mpi/${mpi}`);
  const workdir = lastValue(words, "chdir");
  const cpus = lastValue(words, "cpus-per-task");
  const asked = lastValue(words, "export") ?? (desk.env.SLURM_EXPORT_ENV || "ALL");
  const { variables, missing } = exportedVariables(asked, desk.env);
  for (const name of missing) complain(`srun: warning: --export: ${name} is not set`);
  const hosts = hostsOf(desk, words, nodes);
  return {
    command: words.operands,
    ...layoutOf(desk, { tasks, nodes, perNode }),
    ...(hosts === undefined ? {} : { nodes: hosts }),
    ...(pmi === undefined ? {} : { pmi }),
    variables: { ...variables, ...(cpus === undefined ? {} : { SLURM_CPUS_PER_TASK: cpus }) },
    workdir: resolve(desk.cwd, workdir ?? "."),
    ...(has(words, "pty") ? { pty: true, ...terminalSize() } : {}),
    ...(has(words, "pty") || !wantsInput(words) ? {} : { input: true }),
  };
}

interface Counts {
  readonly tasks: number | undefined;
  readonly nodes: number | undefined;
  readonly perNode: number | undefined;
}

/** As many tasks as are asked for; one on each node when only nodes are. */
function layoutOf({ env }: Desk, { tasks, nodes, perNode }: Counts): Pick<LaunchRequest, "tasks" | "tasks_per_node"> {
  if (tasks !== undefined) {
    const on = nodes ?? (Number(env.LATTICE_NNODES) || 1);
    return { tasks, tasks_per_node: perNode ?? Math.ceil(tasks / Math.min(on, tasks)) };
  }
  if (perNode !== undefined) return { tasks_per_node: perNode };
  // Without any: what the job asked for, which is one on each node if it did not say.
  return nodes === undefined ? {} : { tasks: nodes, tasks_per_node: 1 };
}

function countOf(words: Words, name: string): number | undefined {
  const text = lastValue(words, name);
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}(-\d{1,9})?$/.test(text)) {
    throw new Refusal([`srun: error: Invalid numeric value "${text}" for --${name}.`], 255);
  }
  return Number.parseInt(text, 10);
}

/** Those named, or, in a job of more nodes than asked for, so many from the first, or from the one that -r counts. */
function hostsOf({ env }: Desk, words: Words, nodes: number | undefined): readonly string[] | undefined {
  const named = namedHosts(words, "nodelist");
  if (named !== undefined) return named;
  const all = (env.LATTICE_NODELIST ?? "").split(",").filter((name) => name !== "");
  const from = Number.parseInt(lastValue(words, "relative") ?? "0", 10) || 0;
  const without = namedHosts(words, "exclude") ?? [];
  const left = all.slice(from).filter((name) => !without.includes(name));
  const chosen = nodes === undefined ? left : left.slice(0, nodes);
  return chosen.length === 0 || chosen.length === all.length ? undefined : chosen;
}

const namedHosts = (words: Words, name: string): readonly string[] | undefined =>
  listOf(words, name)?.flatMap((text) => expandHostlist(text) ?? [text]);

/** What is piped into srun is for the tasks, here for the first of them. A terminal needs --pty. */
function wantsInput(words: Words): boolean {
  const from = lastValue(words, "input") ?? "all";
  if (from === "none") return false;
  if (from !== "all" && from !== "0") throw notOffered("srun", `--input=${from}`, "redirect it: srun COMMAND < FILE");
  const stdin = fstatSync(0);
  return stdin.isFIFO() || stdin.isFile() || stdin.isSocket();
}

const terminalSize = (): { rows?: number; columns?: number } =>
  process.stdout.isTTY === true ? { rows: process.stdout.rows, columns: process.stdout.columns } : {};

/** A script that runs on every node calls srun on every node: those calls are one step. */
function callerOf({ env }: Desk, id: string): Pick<LaunchRequest, "caller_node" | "caller_attempt"> {
  const { LATTICE_NODE: node, LATTICE_ATTEMPT: attempt, LATTICE_LAUNCH_ID: task, LATTICE_SCRIPT_ONCE: once } = env;
  const alone = node === undefined || attempt === undefined || task !== undefined || once !== undefined;
  return alone || env.LATTICE_ALLOC_ID !== id ? {} : { caller_node: node, caller_attempt: Number(attempt) };
}

function listMpi(): number {
  process.stdout.write(
    `MPI plugin types are...\n${Object.keys(MPI)
      .map((name) => `\t${name}\n`)
      .join("")}`,
  );
  return 0;
}
