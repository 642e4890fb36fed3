// The document of `sacct --json`: the fields of Slurm's data parser that Lattice has, with the same names and places.

import type { Allocation } from "@lattice/sdk";
import { compressHosts } from "@lattice/wire";
import { limitSeconds, nodeCount, taskCount, usedSeconds } from "./job-fields.ts";
import { exitText, jobReason, jobState } from "./job-state.ts";
import { plainJob } from "./jobs.ts";
import type { AccountingContext } from "./sacct-fields.ts";

export const accountingDocument = (jobs: readonly Allocation[], context: AccountingContext): string =>
  JSON.stringify(
    { meta: { Slurm: "lattice" }, errors: [], jobs: jobs.map((job) => jobDocument(job, context)) },
    null,
    2,
  );

function jobDocument(job: Allocation, { compat, now, hostUser }: AccountingContext) {
  const { spec = {}, nodes = [] } = job;
  const plain = plainJob(job);
  const limit = limitSeconds(plain);
  const [status = 0, signal = 0] = exitText(job).split(":").map(Number);
  const [id, element] = job.id.split("_");
  const total = (job.usage ?? []).at(-1)?.total ?? {};
  return {
    job_id: Number(id),
    array: {
      job_id: element === undefined ? 0 : Number(id),
      task_id: element !== undefined && /^\d+$/.test(element) ? Number(element) : null,
      task: element?.startsWith("[") === true ? element.replace(/^\[|\]$/g, "") : null,
    },
    name: spec.name ?? "",
    account: compat.accountOf(spec.tenant ?? ""),
    user: job.user,
    group: hostUser(job.user).group,
    partition: compat.partitionOf(spec.vcluster ?? ""),
    qos: compat.qosOf(spec.lifecycle?.preemption_class),
    cluster: "lattice",
    state: { current: jobState(job).long, reason: jobReason(job) },
    exit_code: {
      status: signal === 0 ? (status === 0 ? "SUCCESS" : "ERROR") : "SIGNALED",
      return_code: status,
      signal: { signal_id: signal },
    },
    nodes: compressHosts(nodes) || "None assigned",
    allocation_nodes: nodes.length,
    required: {
      CPUs: taskCount(plain),
      nodes: nodeCount(plain),
      memory_gb: spec.resources?.constraints?.memory_gb ?? 0,
    },
    time: {
      submission: unix(job.submitted_at),
      start: unix(job.started_at),
      end: unix(job.ended_at),
      elapsed: Math.floor(usedSeconds(plain, now)),
      limit: limit === null ? null : Math.ceil(limit / 60),
      total: { milliseconds: total.processor_ms ?? 0 },
    },
    kill_request_user: job.cancelled_by ?? "",
    working_directory: spec.environment?.workdir ?? "",
    comment: { job: spec.tags?.comment ?? "" },
    steps:
      spec.script !== undefined && job.started_at !== undefined
        ? [{ step: { id: `${job.id}.batch`, name: "batch" }, peak_memory_bytes: total.peak_memory_bytes ?? null }]
        : [],
  };
}

const unix = (at: string | undefined): number => (at === undefined ? 0 : Math.floor(Date.parse(at) / 1_000));
