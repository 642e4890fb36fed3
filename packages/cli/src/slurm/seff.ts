// `seff`: how well an ended job used what it had: CPU time against the cores it held, and memory against its limit or its
// nodes' memory. Resources come from the measurements of the nodes.

import type { Allocation } from "@lattice/sdk";
import type { SlurmCommand } from "./command.ts";
import { parseCommandLine } from "./command-line.ts";
import { print, printError, type SlurmContext } from "./context.ts";
import { isHidden } from "./hidden-jobs.ts";
import { hostUsers } from "./host-users.ts";
import { coresOf, nodesById } from "./job-facts.ts";
import { usedSeconds } from "./job-fields.ts";
import { jobState } from "./job-state.ts";
import { plainJob } from "./jobs.ts";
import { slurmError } from "./slurm-error.ts";
import { fullSpan } from "./times.ts";

export const command: SlurmCommand = {
  help: "Usage: seff JOBID",
  run: async (context, argv) => {
    const { operands } = parseCommandLine({ program: "seff", rules: [] }, argv);
    const [id] = operands;
    if (id === undefined || operands.length > 1) throw slurmError("seff", "name one job: seff JOBID");
    const job = await context.client.get(id).catch((error: unknown) => {
      if (isHidden(error)) throw slurmError("seff", "Job not found.");
      throw error;
    });
    for (const line of await report(context, job)) print(line);
    if (job.ended_at === undefined) printError("WARNING: Efficiency statistics may be misleading for RUNNING jobs.");
    return 0;
  },
};

async function report(context: SlurmContext, job: Allocation): Promise<readonly string[]> {
  const known = await nodesById(context);
  const cores = coresOf(job, known) ?? 0;
  const elapsed = usedSeconds(plainJob(job), context.now);
  const usage = (job.usage ?? []).at(-1);
  const { processor_ms: cpuMs = 0, peak_memory_bytes: peak = 0 } = usage?.total ?? {};
  const wall = cores * elapsed;
  const own = hostUsers()(job.user);
  const asked = (job.spec?.resources?.constraints?.memory_gb ?? 0) * 2 ** 30;
  const smallest = Math.min(
    ...job.nodes.map((name) => Number(known.get(name)?.capabilities?.memory_gb ?? 0) * 2 ** 30),
  );
  const memory = asked > 0 ? asked : Number.isFinite(smallest) ? smallest : 0;
  return [
    `Job ID: ${job.id}`,
    "Cluster: lattice",
    `User/Group: ${job.user}/${own.group}`,
    `State: ${jobState(job).long} (exit code ${job.exit_code ?? 0})`,
    ...(job.nodes.length > 1
      ? [`Nodes: ${job.nodes.length}`, `Cores per node: ${Math.round(cores / job.nodes.length)}`]
      : [`Cores: ${cores}`]),
    `CPU Utilized: ${fullSpan(Math.floor(cpuMs / 1000))}`,
    `CPU Efficiency: ${percent(cpuMs / 1000, wall)} of ${fullSpan(Math.floor(wall))} core-walltime`,
    `Job Wall-clock time: ${fullSpan(Math.floor(elapsed))}`,
    `Memory Utilized: ${amount(peak)}${job.nodes.length > 1 ? " (on the node with the most)" : ""}`,
    `Memory Efficiency: ${percent(peak, memory)} of ${amount(memory)}`,
  ];
}

const percent = (part: number, whole: number): string => `${(whole <= 0 ? 0 : (100 * part) / whole).toFixed(2)}%`;

function amount(bytes: number): string {
  if (bytes >= 2 ** 30) return `${(bytes / 2 ** 30).toFixed(2)} GB`;
  return bytes >= 2 ** 20 ? `${(bytes / 2 ** 20).toFixed(2)} MB` : `${(bytes / 1024).toFixed(2)} KB`;
}
