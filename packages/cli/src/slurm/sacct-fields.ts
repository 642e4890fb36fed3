// The columns of sacct by name, with their default widths.

import type { Allocation, AttemptUsage, Node } from "@lattice/sdk";
import { compressHosts, DEFAULT_QOS_CLASSES } from "@lattice/wire";
import type { Compat } from "../settings/compat-file.ts";
import type { HostUser } from "./host-users.ts";
import { coresOf, totalOf } from "./job-facts.ts";
import { limitSeconds, memoryText, nodeCount, taskCount, usedSeconds } from "./job-fields.ts";
import { exitText, jobReason, jobState } from "./job-state.ts";
import { plainJob } from "./jobs.ts";
import { fullSpan, localTime } from "./times.ts";

export interface AccountField {
  readonly name: string;
  readonly width: number;
  /** Aligned left. */
  readonly left?: true;
  readonly value: (job: Allocation, context: AccountingContext) => string;
}

export interface AccountingContext {
  readonly compat: Compat;
  readonly now: number;
  /** The nodes that are still in the cluster. */
  readonly nodes: ReadonlyMap<string, Node>;
  readonly hostUser: (name: string) => HostUser;
}

const seconds = (job: Allocation, { now }: AccountingContext): number => Math.floor(usedSeconds(plainJob(job), now));
const cores = (job: Allocation, { nodes }: AccountingContext): number => coresOf(job, nodes) ?? 0;
const waited = ({ submitted_at, started_at, ended_at }: Allocation, now: number): number =>
  (Date.parse(started_at ?? ended_at ?? new Date(now).toISOString()) - Date.parse(submitted_at ?? "")) / 1000 || 0;
const limit = (job: Allocation): number | null => limitSeconds(plainJob(job));

const field = (name: string, width: number, value: AccountField["value"]): AccountField => ({ name, width, value });

const left = (name: string, width: number, value: AccountField["value"]): AccountField => ({
  name,
  width,
  value,
  left: true,
});

/** Not recorded per job. Slurm leaves these empty too when it does not collect them. */
const EMPTY = `AdminComment:15 AveCPUFreq:10 AvePages:10 AveVMSize:10 BlockID:16 ConsumedEnergy:14 ConsumedEnergyRaw:17
  Extra:14 FailedNode:8 Licenses:10 MaxPages:8 MaxPagesNode:12 MaxPagesTask:14 MaxVMSize:10 MaxVMSizeNode:14
  MaxVMSizeTask:14 McsLabel:12 ReqCPUFreq:10 ReqCPUFreqGov:13 ReqCPUFreqMax:13 ReqCPUFreqMin:13 Reservation:20
  ReservationId:8 SubmitLine:20 SystemComment:15 TRESUsageInAve:14 TRESUsageInMax:14 TRESUsageInMaxNode:18
  TRESUsageInMaxTask:18 TRESUsageInMin:14 TRESUsageInMinNode:18 TRESUsageInMinTask:18 TRESUsageInTot:14
  TRESUsageOutAve:15 TRESUsageOutMax:15 TRESUsageOutMaxNode:19 TRESUsageOutMaxTask:19 TRESUsageOutMin:15
  TRESUsageOutMinNode:19 TRESUsageOutMinTask:19 TRESUsageOutTot:15 WCKey:10 WCKeyID:10`
  .split(/\s+/)
  .map((pair) => pair.split(":") as [string, string])
  .map(([name, width]) => field(name, Number(width), () => ""));

/** As measured by the nodes, of the last attempt. SystemCPU is not separated. */
const USAGE_FIELDS: readonly AccountField[] = [
  field("TotalCPU", 10, (job) => cpuText(lastUsage(job)?.total?.processor_ms)),
  field("UserCPU", 10, (job) => cpuText(lastUsage(job)?.total?.processor_ms)),
  field("SystemCPU", 10, () => ""),
  field("AveCPU", 10, (job) => cpuSpan(lastUsage(job))),
  field("MinCPU", 10, (job) => cpuSpan(lastUsage(job))),
  field("MinCPUNode", 10, ({ nodes }) => nodes[0] ?? ""),
  field("MinCPUTask", 10, () => "0"),
  field("MaxRSS", 10, (job) => kilobytes(lastUsage(job)?.total?.peak_memory_bytes)),
  field("MaxRSSNode", 10, (job) => lastUsage(job)?.peak_memory_node ?? ""),
  field("MaxRSSTask", 10, () => "0"),
  field("AveRSS", 10, (job) => kilobytes(lastUsage(job)?.total?.peak_memory_bytes)),
  ...["MaxDiskRead", "AveDiskRead"].map((name) =>
    field(name, name.length, (job) => megabytes(lastUsage(job)?.total?.read_bytes)),
  ),
  ...["MaxDiskWrite", "AveDiskWrite"].map((name) =>
    field(name, name.length, (job) => megabytes(lastUsage(job)?.total?.written_bytes)),
  ),
  ...["MaxDiskReadNode", "MaxDiskWriteNode"].map((name) => field(name, name.length, ({ nodes }) => nodes[0] ?? "")),
  ...["MaxDiskReadTask", "MaxDiskWriteTask"].map((name) => field(name, name.length, () => "0")),
];

export const ACCOUNT_FIELDS: readonly AccountField[] = [
  field("Account", 10, ({ spec }, { compat }) => compat.accountOf(spec?.tenant ?? "")),
  field("AllocCPUS", 10, (job, context) => `${cores(job, context)}`),
  field("AllocNodes", 10, ({ nodes }) => `${nodes?.length ?? 0}`),
  field("AllocTRES", 10, (job, context) => allocTres(job, context)),
  field("AssocID", 7, () => "0"),
  field("Cluster", 10, () => "lattice"),
  field("Comment", 14, ({ spec }) => spec?.tags?.comment ?? ""),
  field("Constraints", 19, ({ spec }) => (spec?.resources?.constraints?.features ?? []).join("&")),
  field("Container", 19, ({ spec }) => spec?.environment?.image ?? ""),
  field("CPUTime", 10, (job, context) => fullSpan(seconds(job, context) * cores(job, context))),
  field("CPUTimeRAW", 10, (job, context) => `${seconds(job, context) * cores(job, context)}`),
  left("DBIndex", 21, () => "0"),
  field("DerivedExitCode", 15, exitText),
  field("Elapsed", 10, (job, context) => fullSpan(seconds(job, context))),
  field("ElapsedRaw", 10, (job, context) => `${seconds(job, context)}`),
  field("Eligible", 19, ({ submitted_at }) => localTime(submitted_at) || "Unknown"),
  field("End", 19, ({ ended_at }) => localTime(ended_at) || "Unknown"),
  field("ExitCode", 8, exitText),
  field("Flags", 19, ({ backfilled, started_at }) => flagText(started_at !== undefined, backfilled === true)),
  field("GID", 6, ({ user }, { hostUser }) => hostUser(user ?? "").gid),
  field("Group", 9, ({ user }, { hostUser }) => hostUser(user ?? "").group),
  left("JobID", 12, ({ id }) => id),
  left("JobIDRaw", 12, ({ id }) => id),
  field("JobName", 10, ({ spec }) => spec?.name ?? ""),
  field("Layout", 9, () => "Unknown"),
  field("NCPUS", 10, (job, context) => `${cores(job, context)}`),
  field("NNodes", 8, (job) => `${nodeCount(plainJob(job))}`),
  field("NodeList", 15, ({ nodes }) => compressHosts(nodes ?? []) || "None assigned"),
  field("NTasks", 8, (job) => `${taskCount(plainJob(job))}`),
  field("Partition", 10, ({ spec }, { compat }) => compat.partitionOf(spec?.vcluster ?? "")),
  field("Planned", 10, (job, { now }) => fullSpan(waited(job, now))),
  field("PlannedCPU", 10, (job, { now }) => fullSpan(waited(job, now) * taskCount(plainJob(job)))),
  field("PlannedCPURAW", 13, (job, { now }) => `${Math.floor(waited(job, now)) * taskCount(plainJob(job))}`),
  field("Priority", 10, ({ scores }) => (scores === undefined ? "" : `${totalOf(scores)}`)),
  field("QOS", 10, ({ spec }, { compat }) => compat.qosOf(spec?.lifecycle?.preemption_class)),
  field("QOSRAW", 6, ({ spec }) => `${spec?.lifecycle?.preemption_class ?? DEFAULT_QOS_CLASSES.normal}`),
  field("QOSREQ", 10, ({ spec }, { compat }) => compat.qosOf(spec?.lifecycle?.preemption_class)),
  field("Reason", 22, jobReason),
  field("ReqCPUS", 8, (job) => `${taskCount(plainJob(job))}`),
  field("ReqMem", 10, ({ spec }) => memoryText(spec?.resources?.constraints?.memory_gb)),
  field("ReqNodes", 8, (job) => `${nodeCount(plainJob({ ...job, nodes: [] }))}`),
  field("ReqTRES", 10, reqTres),
  field("Reserved", 10, (job, { now }) => fullSpan(waited(job, now))),
  field("Restarts", 8, ({ requeues, preemptions }) => `${(requeues ?? 0) + (preemptions ?? 0)}`),
  field("Start", 19, ({ started_at }) => localTime(started_at) || "Unknown"),
  field("State", 10, stateText),
  field("StdErr", 20, ({ spec }) => spec?.output?.error_file || spec?.output?.file || ""),
  field("StdIn", 20, () => "/dev/null"),
  field("StdOut", 20, ({ spec }) => spec?.output?.file ?? ""),
  field("Submit", 19, ({ submitted_at }) => localTime(submitted_at) || "Unknown"),
  field("Suspended", 10, () => fullSpan(0)),
  field("Timelimit", 10, (job) => (limit(job) === null ? "UNLIMITED" : fullSpan(limit(job) ?? 0))),
  field("TimelimitRaw", 12, (job) => (limit(job) === null ? "UNLIMITED" : `${Math.ceil((limit(job) ?? 0) / 60)}`)),
  field("UID", 6, ({ user }, { hostUser }) => hostUser(user ?? "").uid),
  field("User", 9, ({ user }) => user ?? ""),
  field("WorkDir", 20, ({ spec }) => spec?.environment?.workdir ?? ""),
  ...USAGE_FIELDS,
  ...EMPTY,
];

/** `CANCELLED by 1000` names the user id, as in Slurm. */
function stateText(job: Allocation, { hostUser }: AccountingContext): string {
  const { long } = jobState(job);
  const by = job.cancelled_by ?? "";
  return long === "CANCELLED" && by !== "" ? `${long} by ${hostUser(by).uid}` : long;
}

const lastUsage = ({ usage }: Allocation): AttemptUsage | undefined => usage?.at(-1);

/** Returns `[DAYS-][HOURS:]MINUTES:SECONDS.MILLISECONDS`. */
function cpuText(ms = 0): string {
  const whole = fullSpan(Math.floor(ms / 1000)).replace(/^00:/, "");
  return ms >= 3_600_000 ? whole : `${whole}.${String(Math.floor(ms % 1000)).padStart(3, "0")}`;
}

const cpuSpan = (usage: AttemptUsage | undefined): string =>
  usage === undefined ? "" : fullSpan(Math.floor((usage.total?.processor_ms ?? 0) / 1000));
const kilobytes = (bytes: number | undefined): string => (bytes === undefined ? "" : `${Math.ceil(bytes / 1024)}K`);
const megabytes = (bytes: number | undefined): string =>
  bytes === undefined ? "" : `${(bytes / 2 ** 20).toFixed(2)}M`;

/** Finds a field by its exact name, or the first one with this prefix. */
export function findAccountField(name: string): AccountField | undefined {
  const prefix = name.toLowerCase();
  if (prefix === "") return undefined;
  const named = ACCOUNT_FIELDS.find((one) => one.name.toLowerCase() === prefix);
  return named ?? BY_NAME.find((one) => one.name.toLowerCase().startsWith(prefix));
}

const BY_NAME = ACCOUNT_FIELDS.toSorted((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));

function flagText(started: boolean, backfilled: boolean): string {
  if (!started) return "";
  return backfilled ? "SchedBackfill" : "SchedMain";
}

const gpusOf = ({ spec }: Allocation): number => spec?.resources?.constraints?.gpu_count ?? 0;

function allocTres(job: Allocation, context: AccountingContext): string {
  const [count, own] = [job.nodes?.length ?? 0, cores(job, context)];
  if (count === 0) return "";
  const gpus = gpusOf(job) === 0 ? "" : `,gres/gpu=${gpusOf(job) * count}`;
  return `billing=${own},cpu=${own}${gpus},node=${count}`;
}

function reqTres(job: Allocation): string {
  const plain = plainJob({ ...job, nodes: [] });
  const gpus = gpusOf(job) === 0 ? "" : `,gres/gpu=${gpusOf(job) * nodeCount(plain)}`;
  return `billing=${taskCount(plain)},cpu=${taskCount(plain)}${gpus},node=${nodeCount(plain)}`;
}

export const DEFAULT_ACCOUNT_FIELDS = "JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode";
export const BRIEF_ACCOUNT_FIELDS = "JobID,State,ExitCode";
/** Slurm's list without the TRES usage per task, which is empty here. */
export const LONG_ACCOUNT_FIELDS =
  "JobID,JobIDRaw,JobName,Partition,MaxVMSize,MaxVMSizeNode,MaxVMSizeTask,AveVMSize,MaxRSS,MaxRSSNode,MaxRSSTask,AveRSS,MaxPages,MaxPagesNode,MaxPagesTask,AvePages,MinCPU,MinCPUNode,MinCPUTask,AveCPU,NTasks,AllocCPUS,Elapsed,State,ExitCode,AveCPUFreq,ReqCPUFreqMin,ReqCPUFreqMax,ReqCPUFreqGov,ReqMem,ConsumedEnergy,MaxDiskRead,MaxDiskReadNode,MaxDiskReadTask,AveDiskRead,MaxDiskWrite,MaxDiskWriteNode,MaxDiskWriteTask,AveDiskWrite,AllocTRES,ReqTRES";
