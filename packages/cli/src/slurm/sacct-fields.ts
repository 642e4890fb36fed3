// The columns of sacct, by their names, with the width each has unless told otherwise.

import type { Allocation } from "@lattice/sdk";
import type { Compat } from "./compat-file.ts";
import { compressHosts } from "./hostlist.ts";
import { limitSeconds, nodeCount, taskCount, usedSeconds } from "./job-fields.ts";
import { exitText, jobReason, jobState } from "./job-state.ts";
import { plainJob } from "./jobs.ts";
import { fullSpan, localTime } from "./times.ts";

export interface AccountField {
  readonly name: string;
  readonly width: number;
  readonly value: (job: Allocation, around: AccountAround) => string;
}

export interface AccountAround {
  readonly compat: Compat;
  readonly now: number;
  /** Cores of the nodes that are still known. */
  readonly coresOf: ReadonlyMap<string, number>;
}

const seconds = (job: Allocation, { now }: AccountAround): number => Math.floor(usedSeconds(plainJob(job), now));
const cores = (job: Allocation, { coresOf }: AccountAround): number =>
  (job.nodes ?? []).reduce((sum, node) => sum + (coresOf.get(node) ?? 0), 0);
const waited = ({ submitted_at, started_at, ended_at }: Allocation, now: number): number =>
  (Date.parse(started_at ?? ended_at ?? new Date(now).toISOString()) - Date.parse(submitted_at ?? "")) / 1000 || 0;
const limit = (job: Allocation): number | null => limitSeconds(plainJob(job));

const field = (name: string, width: number, value: AccountField["value"]): AccountField => ({ name, width, value });

export const ACCOUNT_FIELDS: readonly AccountField[] = [
  field("JobID", 12, ({ id }) => id),
  field("JobIDRaw", 12, ({ id }) => id),
  field("JobName", 10, ({ spec }) => spec?.name ?? ""),
  field("Partition", 10, ({ spec }, { compat }) => compat.partitionOf(spec?.vcluster ?? "")),
  field("Account", 10, ({ spec }, { compat }) => compat.accountOf(spec?.tenant ?? "")),
  field("AllocCPUS", 10, (job, around) => `${cores(job, around)}`),
  field("NCPUS", 10, (job, around) => `${cores(job, around)}`),
  field("ReqCPUS", 8, (job) => `${taskCount(plainJob(job))}`),
  field("State", 10, (job) => jobState(job).long),
  field("ExitCode", 8, exitText),
  field("DerivedExitCode", 15, exitText),
  field("Elapsed", 10, (job, around) => fullSpan(seconds(job, around))),
  field("ElapsedRaw", 10, (job, around) => `${seconds(job, around)}`),
  field("CPUTime", 10, (job, around) => fullSpan(seconds(job, around) * cores(job, around))),
  field("CPUTimeRAW", 10, (job, around) => `${seconds(job, around) * cores(job, around)}`),
  field("Submit", 19, ({ submitted_at }) => localTime(submitted_at) || "Unknown"),
  field("Eligible", 19, ({ submitted_at }) => localTime(submitted_at) || "Unknown"),
  field("Start", 19, ({ started_at }) => localTime(started_at) || "Unknown"),
  field("End", 19, ({ ended_at }) => localTime(ended_at) || "Unknown"),
  field("Planned", 10, (job, { now }) => fullSpan(waited(job, now))),
  field("Reserved", 10, (job, { now }) => fullSpan(waited(job, now))),
  field("Timelimit", 10, (job) => (limit(job) === null ? "UNLIMITED" : fullSpan(limit(job) ?? 0))),
  field("TimelimitRaw", 12, (job) => `${Math.ceil((limit(job) ?? 0) / 60)}`),
  field("NodeList", 15, ({ nodes }) => compressHosts(nodes ?? []) || "None assigned"),
  field("NNodes", 8, (job) => `${nodeCount(plainJob(job))}`),
  field("AllocNodes", 10, ({ nodes }) => `${nodes?.length ?? 0}`),
  field("ReqNodes", 8, (job) => `${nodeCount(plainJob({ ...job, nodes: [] }))}`),
  field("NTasks", 8, (job) => `${taskCount(plainJob(job))}`),
  field("User", 9, ({ user }) => user ?? ""),
  field("QOS", 10, ({ spec }, { compat }) => compat.qosOf(spec?.lifecycle?.preemption_class)),
  field("Cluster", 10, () => "lattice"),
  field("Reason", 22, jobReason),
  field("WorkDir", 20, ({ spec }) => spec?.environment?.workdir ?? ""),
  field("Restarts", 8, ({ requeues, preemptions }) => `${(requeues ?? 0) + (preemptions ?? 0)}`),
  // Not measured for each job: Slurm leaves these empty where it does not gather them.
  ...["MaxRSS", "MaxVMSize", "AveRSS", "AveCPU", "TotalCPU", "UserCPU", "SystemCPU", "ReqMem", "Comment"].map((name) =>
    field(name, 10, () => ""),
  ),
];

export const DEFAULT_ACCOUNT_FIELDS = "JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode";
export const BRIEF_ACCOUNT_FIELDS = "JobID,State,ExitCode";
export const LONG_ACCOUNT_FIELDS =
  "JobID,JobIDRaw,JobName,Partition,Account,AllocCPUS,Elapsed,State,ExitCode,NodeList,Start,End";
