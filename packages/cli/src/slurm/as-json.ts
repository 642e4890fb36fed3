// The documents of `squeue --json` and `sinfo --json`, with Slurm's field names. Numbers are numbers and times are
// seconds since 1970, as in Slurm 22.05. Fields without a Lattice counterpart are left out, never invented.

import type { Node } from "@lattice/sdk";
import { compressHosts } from "@lattice/wire";
import { type ClusterView, gresText, megabytes, nodeState } from "./cluster-nodes.ts";
import { dependencyText, type JobColumnContext, jobFields, limitSeconds, nodeCount, taskCount } from "./job-fields.ts";
import { jobState } from "./job-state.ts";
import type { SlurmJob } from "./jobs.ts";

type Json = Readonly<Record<string, unknown>>;

const META = { plugin: { type: "openapi/v0.0.38", name: "Slurm OpenAPI v0.0.38" } };

export const jobsDocument = (jobs: readonly SlurmJob[], context: JobColumnContext): string =>
  text({ meta: META, errors: [], jobs: jobs.map((job) => jobJson(job, context)) });

export const nodesDocument = (view: ClusterView, nodes: readonly Node[]): string =>
  text({ meta: META, errors: [], nodes: nodes.map((node) => nodeJson(view, node)) });

const text = (document: Json): string => JSON.stringify(document, null, 2);

function jobJson(job: SlurmJob, context: JobColumnContext): Json {
  const { allocation, base, index } = job;
  const { spec } = allocation;
  const fields = jobFields(context);
  const shown = (letter: string): string => fields[letter]?.value(job) ?? "";
  const limit = limitSeconds(job);
  const dependency = dependencyText(job);
  return {
    job_id: Number(base),
    array_job_id: index === null ? 0 : Number(base),
    array_task_id: index !== null && /^\d+$/.test(index) ? Number(index) : null,
    array_task_string: index?.startsWith("[") ? index.replace(/^\[|\]$/g, "") : "",
    name: spec?.name ?? "",
    user_name: allocation.user ?? "",
    account: context.compat.accountOf(spec?.tenant ?? ""),
    partition: shown("P"),
    qos: shown("q"),
    job_state: jobState(allocation).long,
    state_reason: shown("r"),
    node_count: nodeCount(job),
    nodes: compressHosts(allocation.nodes ?? []),
    batch_host: allocation.nodes?.[0] ?? "",
    tasks: taskCount(job),
    tasks_per_node: spec?.resources?.tasks_per_node ?? null,
    // In minutes; `null` without a limit.
    time_limit: limit === null ? null : Math.ceil(limit / 60),
    submit_time: unix(allocation.submitted_at),
    start_time: unix(allocation.started_at ?? allocation.estimated_start),
    end_time: endTime(job),
    exit_code: allocation.exit_code ?? 0,
    restart_cnt: allocation.requeues ?? 0,
    dependency: dependency === "(null)" ? "" : dependency,
    features: (spec?.resources?.constraints?.features ?? []).join(","),
    current_working_directory: shown("Z"),
  };
}

function endTime(job: SlurmJob): number {
  const { ended_at, started_at } = job.allocation;
  const limit = limitSeconds(job);
  if (ended_at !== undefined || started_at === undefined || limit === null) return unix(ended_at);
  return unix(started_at) + limit;
}

function nodeJson(view: ClusterView, node: Node): Json {
  const gres = gresText(node);
  const state = nodeState(node).long;
  return {
    name: node.id,
    hostname: node.id,
    address: node.address ?? "",
    state: state.replace("*", ""),
    state_flags: state.endsWith("*") ? ["NOT_RESPONDING"] : [],
    cpus: node.capabilities?.cpu_cores ?? 0,
    real_memory: megabytes(node),
    gres: gres === "(null)" ? "" : gres,
    features: (node.capabilities?.features ?? []).join(","),
    partitions: view.partitions.filter(({ nodes }) => nodes.includes(node)).map(({ name }) => name),
    reason: node.reason ?? "",
  };
}

const unix = (at: string | undefined): number => (at === undefined ? 0 : Math.floor(Date.parse(at) / 1_000));
