// The columns of squeue, by the letters of its format strings.

import { compressHosts, DEFAULT_QOS_CLASSES } from "@lattice/wire";
import type { Compat } from "../settings/compat-file.ts";
import type { Fields } from "./format.ts";
import { hostUsers } from "./host-users.ts";
import { jobReason, jobState } from "./job-state.ts";
import type { SlurmJob } from "./jobs.ts";
import { localTime, shortSpan } from "./times.ts";

export interface JobColumnContext {
  readonly compat: Compat;
  readonly now: number;
  /** Present only when a column needs it. */
  readonly facts?: JobFacts;
}

export interface JobFacts {
  /** Returns the allocated cores, or null when they are unknown. */
  readonly cores: (job: SlurmJob) => number | null;
  /** Returns the score in the queue, in thousandths, or null outside a queue. */
  readonly priority: (job: SlurmJob) => number | null;
}

/** Maps squeue's column names to letters; columns without a letter are in job-fields-long.ts. */
export const LONG_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  `account:a jobid:A batchhost:B gres:b mincpus:c numcpus:C mintmpdisk:d numnodes:D endtime:e dependency:E feature:f
  arrayjobid:F groupname:g groupid:G oversubscribe:h shared:h sockets:H jobarrayid:i cores:I name:j threads:J comment:k
  arraytaskid:K timelimit:l timeleft:L minmemory:m timeused:M reqnodes:n nodelist:N command:o contiguous:O priority:p
  partition:P qos:q prioritylong:Q reason:r reasonlist:R selectjobinfo:s starttime:S statecompact:t state:T username:u
  userid:U reservation:v submittime:V wckey:w licenses:W excnodes:x corespec:X nice:y schednodes:Y sct:z workdir:Z
  tres-per-node:b`
    .split(/\s+/)
    .map((pair) => pair.split(":") as [string, string]),
);

const NONE = "(null)";

export function jobFields({ compat, now, facts }: JobColumnContext): Fields<SlurmJob> {
  const nodes = ({ allocation }: SlurmJob): string => compressHosts(allocation.nodes ?? []);
  const hostUser = hostUsers();
  const user = ({ allocation }: SlurmJob) => hostUser(allocation.user ?? "");
  const constraints = ({ allocation }: SlurmJob) => allocation.spec?.resources?.constraints ?? {};
  const priority = (job: SlurmJob): number => facts?.priority(job) ?? 0;
  return {
    a: { header: "ACCOUNT", value: ({ allocation }) => compat.accountOf(allocation.spec?.tenant ?? NONE) },
    A: { header: "JOBID", value: ({ allocation }) => allocation.id },
    b: { header: "TRES_PER_NODE", value: gresText },
    B: { header: "EXEC_HOST", value: ({ allocation }) => allocation.nodes?.[0] ?? "n/a" },
    c: { header: "MIN_CPUS", value: (job) => `${constraints(job).cpu_cores ?? 1}` },
    C: { header: "CPUS", value: (job) => `${facts?.cores(job) ?? taskCount(job)}` },
    d: { header: "MIN_TMP_DISK", value: () => "0" },
    D: { header: "NODES", value: (job) => `${nodeCount(job)}` },
    e: { header: "END_TIME", value: endText },
    E: { header: "DEPENDENCY", value: dependencyText },
    f: { header: "FEATURES", value: (job) => featureText(constraints(job).features) },
    F: { header: "ARRAY_JOB_ID", value: ({ base }) => base },
    g: { header: "GROUP", value: (job) => user(job).group },
    G: { header: "GROUP", value: (job) => user(job).gid },
    h: { header: "OVER_SUBSCRIBE", value: () => "NO" },
    H: { header: "SOCKETS_PER_NODE", value: () => "*" },
    i: { header: "JOBID", value: ({ id }) => id },
    I: { header: "CORES_PER_SOCKET", value: () => "*" },
    j: { header: "NAME", value: ({ allocation }) => allocation.spec?.name ?? "" },
    J: { header: "THREADS_PER_CORE", value: () => "*" },
    k: { header: "COMMENT", value: ({ allocation }) => allocation.spec?.tags?.comment ?? NONE },
    K: { header: "ARRAY_TASK_ID", value: ({ index }) => index?.replace(/^\[|\]$/g, "") ?? "N/A" },
    l: { header: "TIME_LIMIT", value: limitText, uncut: true },
    L: { header: "TIME_LEFT", value: (job) => leftText(job, now), uncut: true },
    m: { header: "MIN_MEMORY", value: (job) => memoryText(constraints(job).memory_gb) },
    M: { header: "TIME", value: (job) => shortSpan(usedSeconds(job, now)), uncut: true },
    n: { header: "REQ_NODES", value: (job) => compressHosts(constraints(job).required_nodes ?? []), uncut: true },
    N: { header: "NODELIST", value: nodes, uncut: true },
    o: { header: "COMMAND", value: commandText },
    O: { header: "CONTIGUOUS", value: () => "0" },
    p: { header: "PRIORITY", value: (job) => (priority(job) / MAX_PRIORITY).toFixed(14) },
    P: { header: "PARTITION", value: ({ allocation }) => compat.partitionOf(allocation.spec?.vcluster ?? "") },
    q: { header: "QOS", value: ({ allocation }) => qosText(compat, allocation.spec?.lifecycle?.preemption_class) },
    Q: { header: "PRIORITY", value: (job) => `${priority(job)}` },
    r: { header: "REASON", value: reasonOf },
    R: { header: "NODELIST(REASON)", value: (job) => nodesOrReason(job, nodes(job)), uncut: true },
    s: { header: "SELECT_JOBINFO", value: () => "" },
    S: { header: "START_TIME", value: startText },
    t: { header: "ST", value: ({ allocation }) => jobState(allocation).short },
    T: { header: "STATE", value: ({ allocation }) => jobState(allocation).long },
    u: { header: "USER", value: ({ allocation }) => allocation.user ?? "" },
    U: { header: "UID", value: (job) => user(job).uid },
    v: { header: "RESERVATION", value: () => NONE },
    V: { header: "SUBMIT_TIME", value: ({ allocation }) => localTime(allocation.submitted_at) || "N/A" },
    w: { header: "WCKEY", value: () => NONE },
    W: { header: "LICENSES", value: () => NONE },
    x: { header: "EXC_NODES", value: (job) => compressHosts(constraints(job).excluded_nodes ?? []), uncut: true },
    X: { header: "CORE_SPEC", value: () => "N/A" },
    y: { header: "NICE", value: () => "0" },
    Y: { header: "SCHEDNODES", value: () => NONE, uncut: true },
    z: { header: "S:C:T", value: () => "*:*:*" },
    Z: { header: "WORK_DIR", value: ({ allocation }) => allocation.spec?.environment?.workdir ?? "" },
  };
}

/** Slurm's maximum priority, which `%p` shows as 1. */
const MAX_PRIORITY = 0xffff_ffff;

/** A failed job shows its reason instead of its nodes. */
function nodesOrReason(job: SlurmJob, nodes: string): string {
  const { state } = job.allocation;
  return state === "pending" || state === "failed" || nodes === "" ? `(${reasonOf(job)})` : nodes;
}

function gresText({ allocation }: SlurmJob): string {
  const { gpu_count: count = 0, gpu_type: type } = allocation.spec?.resources?.constraints ?? {};
  if (count === 0) return "N/A";
  return type === undefined || type === "" ? `gres/gpu:${count}` : `gres/gpu:${type.toLowerCase()}:${count}`;
}

export const memoryText = (gigabytes = 0): string =>
  gigabytes === 0 ? "0" : Number.isInteger(gigabytes) ? `${gigabytes}G` : `${Math.round(gigabytes * 1024)}M`;

export function commandText({ allocation: { spec = {} } }: SlurmJob): string {
  if (spec.entrypoint !== undefined && spec.entrypoint !== "") return spec.entrypoint;
  return spec.command === undefined || spec.command.length === 0 ? NONE : spec.command.join(" ");
}

const qosText = (compat: Compat, value: number | undefined): string =>
  compat.qosOf(value ?? DEFAULT_QOS_CLASSES.normal);

export const reasonOf = ({ allocation, heldByLimit }: SlurmJob): string =>
  heldByLimit ? "JobArrayTaskLimit" : jobReason(allocation);

export function usedSeconds({ allocation }: SlurmJob, now: number): number {
  const { started_at, ended_at, state } = allocation;
  if (started_at === undefined || state === "pending" || state === "staging") return 0;
  return ((ended_at === undefined ? now : Date.parse(ended_at)) - Date.parse(started_at)) / 1000;
}

export const limitSeconds = ({ allocation }: SlurmJob): number | null =>
  allocation.spec?.lifecycle?.walltime_seconds || null;

function limitText(job: SlurmJob): string {
  const seconds = limitSeconds(job);
  return seconds === null ? "UNLIMITED" : shortSpan(seconds);
}

function leftText(job: SlurmJob, now: number): string {
  const seconds = limitSeconds(job);
  return seconds === null ? "UNLIMITED" : shortSpan(seconds - usedSeconds(job, now));
}

/** Returns the number of allocated nodes, or the minimum requested. */
export function nodeCount({ allocation }: SlurmJob): number {
  if (allocation.nodes !== undefined && allocation.nodes.length > 0) return allocation.nodes.length;
  const requested = allocation.spec?.resources?.nodes;
  return typeof requested === "number" ? requested : (requested?.min ?? 1);
}

export const taskCount = (job: SlurmJob): number =>
  nodeCount(job) * Math.max(1, job.allocation.spec?.resources?.tasks_per_node ?? 1);

const startText = ({ allocation }: SlurmJob): string =>
  localTime(allocation.started_at ?? allocation.estimated_start) || "N/A";

function endText(job: SlurmJob): string {
  const { started_at, ended_at } = job.allocation;
  if (ended_at !== undefined) return localTime(ended_at);
  const limit = limitSeconds(job);
  if (started_at === undefined || limit === null) return "N/A";
  return localTime(new Date(Date.parse(started_at) + limit * 1000).toISOString());
}

const CONDITIONS: Readonly<Record<string, string>> = {
  success: "afterok",
  failure: "afternotok",
  any: "afterany",
  corresponding: "aftercorr",
};

export function dependencyText({ allocation }: SlurmJob): string {
  const unmet = allocation.unmet_dependencies ?? [];
  if (unmet.length === 0) return "(null)";
  return unmet
    .map(({ ref, condition = "success" }) =>
      condition === "mutex" ? "singleton(unfulfilled)" : `${CONDITIONS[condition] ?? condition}:${ref}(unfulfilled)`,
    )
    .join(",");
}

export const featureText = (features: readonly string[] | undefined): string =>
  features === undefined || features.length === 0 ? "(null)" : features.join(",");
