// `salloc`: gets nodes, runs a shell or a command here with the variables that srun looks for, and gives
// the nodes back when it ends.

import { spawn } from "node:child_process";
import { basename } from "node:path";
import type { Allocation } from "@lattice/sdk";
import { allocate, type Held, nodesRequest, patienceOf } from "./allocation.ts";
import type { SlurmCommand } from "./command.ts";
import { complain, type Desk } from "./desk.ts";
import { taskCount } from "./job-fields.ts";
import { JOB_RULES, jobOptions } from "./job-options.ts";
import { plainJob } from "./jobs.ts";
import { type Grammar, has, lastValue, readWords } from "./words.ts";

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
  run: async (desk, argv) => {
    const words = readWords(GRAMMAR, argv);
    const shell = desk.env.SHELL ?? "/bin/sh";
    const line = words.operands.length === 0 ? [shell] : words.operands;
    const name =
      lastValue(words, "job-name") ?? (words.operands.length === 0 ? "interactive" : basename(line[0] ?? ""));
    const stop = new AbortController();
    const interrupt = (): void => stop.abort();
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, interrupt);
    const request = nodesRequest(desk, jobOptions("salloc", words, desk.env, "SALLOC"), name);
    const held = await allocate(desk, request, { signal: stop.signal, seconds: patienceOf(words) });
    complain(`salloc: Granted job allocation ${held.id}`);
    // They are kept until somebody cancels the job, or its time is over.
    if (has(words, "no-shell")) return 0;
    let exit = 1;
    try {
      const job = await desk.client.get(held.id);
      const variables = { ...heldVariables(desk, held, name), ...jobVariables(desk, job, lastValue(words, "ntasks")) };
      exit = await runHere(desk, line, { ...(request.env as Variables), ...variables });
    } finally {
      complain(`salloc: Relinquishing job allocation ${held.id}`);
      await held.end(exit);
    }
    return exit;
  },
};

type Variables = Readonly<Record<string, string>>;

/** Ctrl-C is the command's: it is in the same group of the terminal. */
function runHere({ env }: Desk, [file = "", ...args]: readonly string[], variables: Variables): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: "inherit", env: { ...env, ...variables } });
    const end = (): void => void child.kill("SIGTERM");
    for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, end);
    child.once("error", () => {
      complain(`salloc: error: Unable to exec command "${file}"`);
      resolve(2);
    });
    child.once("exit", (code, signal) => resolve(code ?? (signal === "SIGKILL" ? 137 : 143)));
  });
}

const heldVariables = ({ cwd }: Desk, { id, nodes }: Held, name: string): Variables => ({
  LATTICE_ALLOC_ID: id,
  LATTICE_NODELIST: nodes.join(","),
  LATTICE_NNODES: `${nodes.length}`,
  SLURM_JOB_ID: id,
  SLURM_JOBID: id,
  SLURM_JOB_NAME: name,
  SLURM_JOB_NODELIST: nodes.join(","),
  SLURM_NODELIST: nodes.join(","),
  SLURM_NNODES: `${nodes.length}`,
  SLURM_JOB_NUM_NODES: `${nodes.length}`,
  SLURM_SUBMIT_DIR: cwd,
});

/** What was decided for it where nothing was said. */
function jobVariables({ compat }: Desk, job: Allocation, asked: string | undefined): Variables {
  const { spec = {} } = job;
  const tasks = asked ?? `${taskCount(plainJob(job))}`;
  return {
    SLURM_NTASKS: tasks,
    SLURM_NPROCS: tasks,
    SLURM_JOB_PARTITION: compat.partitionOf(spec.vcluster ?? ""),
    SLURM_JOB_ACCOUNT: compat.accountOf(spec.tenant ?? ""),
    SLURM_JOB_QOS: compat.qosOf(spec.lifecycle?.preemption_class),
  };
}
