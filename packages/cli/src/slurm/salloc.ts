// `salloc`: allocates nodes, runs a shell or a command locally with the variables that srun reads, and releases the
// nodes when it ends.

import { spawn } from "node:child_process";
import { basename } from "node:path";
import type { Allocation } from "@lattice/sdk";
import { hostlistOf } from "@lattice/wire";
import { ignoreClosedOutput } from "../output/closed-output.ts";
import { allocate, immediateSeconds, type JobAllocation, nodesRequest } from "./allocation.ts";
import type { SlurmCommand } from "./command.ts";
import { type Grammar, has, lastValue, parseCommandLine } from "./command-line.ts";
import { printError, type SlurmContext } from "./context.ts";
import { taskCount } from "./job-fields.ts";
import { JOB_RULES, jobOptions } from "./job-options.ts";
import { plainJob } from "./jobs.ts";
import { withCommandsFirst } from "./variables.ts";

const GRAMMAR: Grammar = {
  program: "salloc",
  stopsAtOperand: true,
  exit: 255,
  rules: [
    ...JOB_RULES,
    { long: "no-shell" },
    { long: "bell" },
    { long: "no-bell" },
    { long: "immediate", short: "I", value: "optional" },
  ],
};

export const command: SlurmCommand = {
  help: "Usage: salloc [OPTIONS] [COMMAND [ARGS]]\nOptions are those of #SBATCH lines.",
  run: async (context, argv) => {
    const words = parseCommandLine(GRAMMAR, argv);
    const shell = context.env.SHELL ?? "/bin/sh";
    const line = words.operands.length === 0 ? [shell] : words.operands;
    const name =
      lastValue(words, "job-name") ?? (words.operands.length === 0 ? "interactive" : basename(line[0] ?? ""));
    const stop = new AbortController();
    const interrupt = (): void => stop.abort();
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, interrupt);
    // With its terminal closed it must still release the nodes.
    ignoreClosedOutput();
    const request = nodesRequest(context, jobOptions("salloc", words, context.env, "SALLOC"), name);
    const allocation = await allocate(context, request, { signal: stop.signal, seconds: immediateSeconds(words) });
    printError(`salloc: Granted job allocation ${allocation.id}`);
    // The allocation stays until it is cancelled or its walltime ends.
    if (has(words, "no-shell")) return 0;
    let exit = 1;
    try {
      const job = await context.client.get(allocation.id);
      const variables = {
        ...allocationVariables(context, allocation, name),
        ...jobVariables(context, job, lastValue(words, "ntasks")),
      };
      exit = await runHere(context, line, { ...(request.env as Variables), ...variables });
    } finally {
      printError(`salloc: Relinquishing job allocation ${allocation.id}`);
      await allocation.end(exit);
    }
    return exit;
  },
};

type Variables = Readonly<Record<string, string>>;

/** Ctrl-C reaches the command itself, which is in the same process group. */
function runHere(
  { env }: SlurmContext,
  [file = "", ...args]: readonly string[],
  variables: Variables,
): Promise<number> {
  return new Promise((resolve) => {
    const path = withCommandsFirst({ PATH: env.PATH ?? "" }, env.LATTICE_COMPAT_BIN);
    const child = spawn(file, args, { stdio: "inherit", env: { ...env, ...variables, ...path } });
    const end = (): void => void child.kill("SIGTERM");
    for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, end);
    child.once("error", () => {
      printError(`salloc: error: Unable to exec command "${file}"`);
      resolve(2);
    });
    child.once("exit", (code, signal) => resolve(code ?? (signal === "SIGKILL" ? 137 : 143)));
  });
}

const allocationVariables = ({ cwd }: SlurmContext, { id, nodes }: JobAllocation, name: string): Variables => ({
  LATTICE_ALLOC_ID: id,
  LATTICE_NODELIST: nodes.join(","),
  LATTICE_NNODES: `${nodes.length}`,
  SLURM_JOB_ID: id,
  SLURM_JOBID: id,
  SLURM_JOB_NAME: name,
  SLURM_JOB_NODELIST: hostlistOf(nodes),
  SLURM_NODELIST: hostlistOf(nodes),
  SLURM_NNODES: `${nodes.length}`,
  SLURM_JOB_NUM_NODES: `${nodes.length}`,
  SLURM_SUBMIT_DIR: cwd,
});

/** Variables from the job's record, which has the defaults filled in. */
function jobVariables({ compat }: SlurmContext, job: Allocation, ntasks: string | undefined): Variables {
  const { spec = {} } = job;
  const tasks = ntasks ?? `${taskCount(plainJob(job))}`;
  return {
    SLURM_NTASKS: tasks,
    SLURM_NPROCS: tasks,
    SLURM_JOB_PARTITION: compat.partitionOf(spec.vcluster ?? ""),
    SLURM_JOB_ACCOUNT: compat.accountOf(spec.tenant ?? ""),
    SLURM_JOB_QOS: compat.qosOf(spec.lifecycle?.preemption_class),
  };
}
