// `srun`: runs tasks on the nodes of the surrounding job, or else allocates nodes, runs the tasks and releases the
// nodes. The exit status is that of the tasks. With --pty the first task gets the caller's terminal. Plain steps are
// started by the native launcher (packages/cli/native/srun.c) when it is installed; it builds the same request from
// the same options, so a change here must be made there too.

import { fstatSync } from "node:fs";
import { basename, resolve } from "node:path";
import { type LaunchRequest, sleep } from "@lattice/sdk";
import { expandHostlist, ProblemError } from "@lattice/wire";
import { throwLaunchProblem } from "../launch/handover.ts";
import { ignoreClosedOutput } from "../output/closed-output.ts";
import { clean } from "../output/text.ts";
import { allocate, immediateSeconds, nodesRequest } from "./allocation.ts";
import type { SlurmCommand } from "./command.ts";
import {
  type Grammar,
  has,
  lastValue,
  listOf,
  type OptionRule,
  parseCommandLine,
  type SlurmCommandLine,
} from "./command-line.ts";
import { printError, type SlurmContext } from "./context.ts";
import { JOB_RULES, jobOptions } from "./job-options.ts";
import { SlurmError, slurmError, unsupported } from "./slurm-error.ts";
import { runStep } from "./step.ts";
import { stepOutput } from "./step-output.ts";
import { exportedVariables } from "./variables.ts";

/** Unsupported options that change what runs, and what to do instead. Ignoring them would be wrong. */
const UNSUPPORTED_OPTIONS: Readonly<Record<string, string>> = {
  bcast: "put the program on a shared file system",
  prolog: "run it before srun",
  epilog: "run it after srun",
  "task-prolog": "run it in the command",
  "task-epilog": "run it in the command",
  "het-group": "submit a job for each kind of node",
  x11: "use `ssh -X`",
  "test-only": "use sbatch --test-only",
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
    // Accepted without effect.
    { long: "threads", short: "T", value: "required" },
    { long: "disable-status", short: "X" },
    { long: "preserve-env", short: "E" },
    { long: "accel-bind", value: "required" },
    { long: "slurmd-debug", value: "required" },
    { long: "resv-ports", value: "optional" },
    { long: "interactive" },
    ...Object.keys(UNSUPPORTED_OPTIONS).map((long): OptionRule => ({ long, value: "optional" })),
    { long: "wait-for-batch-end" },
  ],
};

export const command: SlurmCommand = {
  help: "Usage: srun [-n TASKS] [-N NODES] [--ntasks-per-node N] [-c CPUS] [-w NODES] [-l] [-t TIME] [-p PARTITION] [--mpi TYPE] [--export LIST] [--jobid ID] [--pty] COMMAND [ARGS]",
  run: async (context, argv) => {
    const words = parseCommandLine(GRAMMAR, argv);
    const inside = lastValue(words, "jobid") ?? (context.env.LATTICE_ALLOC_ID || context.env.SLURM_JOB_ID || undefined);
    try {
      throwLaunchProblem(context.env.LATTICE_LAUNCH_PROBLEM);
    } catch (error) {
      throw withUnknownJob(error, inside ?? "");
    }
    if (has(words, "wait-for-batch-end")) return waitForBatchEnd(context, inside ?? "");
    if (lastValue(words, "mpi") === "list") return listMpi();
    if (has(words, "multi-prog")) throw unsupported("srun", "--multi-prog", "start each program with its own srun");
    if (words.operands.length === 0) throw new SlurmError(["srun: fatal: No command given to execute."]);
    rejectUnsupported(words);
    const stop = new AbortController();
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => stop.abort());
    if (inside === undefined) return runInOwnAllocation(context, words, stop.signal);
    return step(context, words, inside, stop.signal).catch((error: unknown) => {
      throw withUnknownJob(error, inside);
    });
  },
};

/** Returns Slurm's error for an unknown job. */
function withUnknownJob(error: unknown, id: string): unknown {
  if (!(error instanceof ProblemError) || error.problem.code !== "unknown_allocation") return error;
  return new SlurmError([
    `srun: error: Unable to confirm allocation for job ${clean(id)}: Invalid job id specified`,
    `srun: Check SLURM_JOB_ID environment variable. Expired or invalid job ${clean(id)}`,
  ]);
}

function rejectUnsupported(words: SlurmCommandLine): void {
  const [name, instead] = Object.entries(UNSUPPORTED_OPTIONS).find(([long]) => has(words, long)) ?? [];
  if (name !== undefined && instead !== undefined) throw unsupported("srun", `--${name}`, instead);
}

async function runInOwnAllocation(
  context: SlurmContext,
  words: SlurmCommandLine,
  signal: AbortSignal,
): Promise<number> {
  // With its terminal closed it must still release the nodes.
  ignoreClosedOutput();
  const name = lastValue(words, "job-name") ?? basename(words.operands[0] ?? "");
  const options = jobOptions("srun", words, context.env, "SLURM");
  const allocation = await allocate(context, nodesRequest(context, options, name), {
    signal,
    seconds: immediateSeconds(words),
  });
  let exit = 1;
  try {
    exit = await step(context, words, allocation.id, signal);
  } finally {
    await allocation.end(exit);
  }
  return exit;
}

function step(context: SlurmContext, words: SlurmCommandLine, id: string, signal: AbortSignal): Promise<number> {
  const request = { ...requestOf(context, words), ...callerOf(context, id) };
  const output = stepOutput({
    output: lastValue(words, "output"),
    error: lastValue(words, "error"),
    id,
    name: lastValue(words, "job-name") ?? basename(words.operands[0] ?? ""),
    cwd: context.cwd,
  });
  return runStep(context, { id, request, label: has(words, "label"), output, signal });
}

const MPI = { pmi2: "pmi2", pmix: "pmix", none: "none" } as const;

function requestOf(context: SlurmContext, words: SlurmCommandLine): LaunchRequest {
  const [tasks, nodes, perNode] = ["ntasks", "nodes", "ntasks-per-node"].map((name) => countOf(words, name));
  const mpi = lastValue(words, "mpi");
  const pmi = mpi === undefined ? undefined : MPI[mpi.replace(/_v\d+$/, "") as keyof typeof MPI];
  if (mpi !== undefined && pmi === undefined)
    throw slurmError("srun", `Couldn't find the specified plugin name for mpi/${mpi}`);
  const workdir = lastValue(words, "chdir");
  const cpus = lastValue(words, "cpus-per-task");
  const list = lastValue(words, "export") ?? (context.env.SLURM_EXPORT_ENV || "ALL");
  const { variables, missing } = exportedVariables(list, context.env);
  for (const name of missing) printError(`srun: warning: --export: ${name} is not set`);
  const hosts = hostsOf(context, words, nodes);
  return {
    command: words.operands,
    ...layoutOf(context, { tasks, nodes, perNode }),
    ...(hosts === undefined ? {} : { nodes: hosts }),
    ...(pmi === undefined ? {} : { pmi }),
    variables: { ...variables, ...(cpus === undefined ? {} : { SLURM_CPUS_PER_TASK: cpus }) },
    workdir: resolve(context.cwd, workdir ?? "."),
    ...(has(words, "pty") ? { pty: true, ...terminalSize() } : {}),
    ...(has(words, "pty") || !wantsInput(words) ? {} : { input: true }),
  };
}

interface Counts {
  readonly tasks: number | undefined;
  readonly nodes: number | undefined;
  readonly perNode: number | undefined;
}

/** Returns the number of tasks; with -N alone, one task per node. */
function layoutOf(
  { env }: SlurmContext,
  { tasks, nodes, perNode }: Counts,
): Pick<LaunchRequest, "tasks" | "tasks_per_node"> {
  if (tasks !== undefined) {
    const on = nodes ?? (Number(env.LATTICE_NNODES) || 1);
    return { tasks, tasks_per_node: perNode ?? Math.ceil(tasks / Math.min(on, tasks)) };
  }
  if (perNode !== undefined) return { tasks_per_node: perNode };
  // Without counts the server uses the job's own, by default one task per node.
  return nodes === undefined ? {} : { tasks: nodes, tasks_per_node: 1 };
}

function countOf(words: SlurmCommandLine, name: string): number | undefined {
  const text = lastValue(words, name);
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}(-\d{1,9})?$/.test(text)) {
    throw new SlurmError([`srun: error: Invalid numeric value "${text}" for --${name}.`], 255);
  }
  return Number.parseInt(text, 10);
}

/** Returns the nodes of -w, or the first `nodes` of the job counted from -r, without those of -x. */
function hostsOf(
  { env }: SlurmContext,
  words: SlurmCommandLine,
  nodes: number | undefined,
): readonly string[] | undefined {
  const named = namedHosts(words, "nodelist");
  if (named !== undefined) return named;
  const all = (env.LATTICE_NODELIST ?? "").split(",").filter((name) => name !== "");
  const from = Number.parseInt(lastValue(words, "relative") ?? "0", 10) || 0;
  const excluded = namedHosts(words, "exclude") ?? [];
  const left = all.slice(from).filter((name) => !excluded.includes(name));
  const chosen = nodes === undefined ? left : left.slice(0, nodes);
  return chosen.length === 0 || chosen.length === all.length ? undefined : chosen;
}

const namedHosts = (words: SlurmCommandLine, name: string): readonly string[] | undefined =>
  listOf(words, name)?.flatMap((text) => expandHostlist(text) ?? [text]);

/** Piped input goes to the first task. A terminal needs --pty. */
function wantsInput(words: SlurmCommandLine): boolean {
  const from = lastValue(words, "input") ?? "all";
  if (from === "none") return false;
  if (from !== "all" && from !== "0")
    throw unsupported("srun", `--input=${from}`, "redirect standard input: srun COMMAND < FILE");
  const stdin = fstatSync(0);
  return stdin.isFIFO() || stdin.isFile() || stdin.isSocket();
}

const terminalSize = (): { rows?: number; columns?: number } =>
  process.stdout.isTTY === true ? { rows: process.stdout.rows, columns: process.stdout.columns } : {};

/** A script that runs on every node calls srun on every node; the server merges those calls into one step. */
function callerOf({ env }: SlurmContext, id: string): Pick<LaunchRequest, "caller_node" | "caller_attempt"> {
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

const MIN_POLL_MS = 500;
/** Limit of requests per second by all nodes of a job together. */
const POLLS_PER_SECOND = 50;
const ENDED = new Set<string | undefined>(["completed", "failed"]);

/**
 * Waits on all nodes but the first until the batch script on the first node has ended: a node whose part has ended
 * accepts no more tasks. Returns 0, because the first node decides the exit status of the job.
 */
async function waitForBatchEnd({ client, env }: SlurmContext, id: string): Promise<number> {
  const nodes = Number(env.LATTICE_NNODES ?? 1);
  const pause = Math.max(MIN_POLL_MS, (nodes * 1000) / POLLS_PER_SECOND);
  for (;;) {
    try {
      const job = await client.get(id);
      const isThisAttempt = `${job.attempt ?? env.LATTICE_ATTEMPT}` === env.LATTICE_ATTEMPT;
      if (!isThisAttempt || job.ended_at !== undefined || ENDED.has(job.progress?.[0]?.state)) return 0;
    } catch (error) {
      // The job continues while a server is unreachable, so the wait does too.
      if (error instanceof ProblemError && error.problem.code === "unknown_allocation") return 0;
      if (!(error instanceof ProblemError) || !error.problem.retryable) throw error;
    }
    await sleep(pause, undefined);
  }
}
