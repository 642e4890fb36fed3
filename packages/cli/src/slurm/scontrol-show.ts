// The records of `scontrol show`: jobs, nodes and partitions as `Key=Value` lines in Slurm's order. Fields without a
// Lattice counterpart show Slurm's text for an unset value.

import { resolve } from "node:path";
import type { Node } from "@lattice/sdk";
import { compressHosts } from "@lattice/wire";
import type { Compat } from "../settings/compat-file.ts";
import { gresText, isBusy, megabytes, nodeState, type Partition } from "./cluster-nodes.ts";
import { hostUsers } from "./host-users.ts";
import { totalOf } from "./job-facts.ts";
import {
  commandText,
  dependencyText,
  featureText,
  limitSeconds,
  memoryText,
  nodeCount,
  reasonOf,
  taskCount,
  usedSeconds,
} from "./job-fields.ts";
import { exitText, jobState } from "./job-state.ts";
import type { SlurmJob } from "./jobs.ts";
import { outputPath } from "./output-file.ts";
import { fullSpan, localTime } from "./times.ts";

interface RecordContext {
  readonly compat: Compat;
  readonly now: number;
}

const hostUser = hostUsers();

/** Returns the lines of a record; the printer indents all but the first. */
export function jobRecord(job: SlurmJob, { compat, now }: RecordContext): readonly string[] {
  const { allocation, base, index } = job;
  const { spec = {}, nodes = [] } = allocation;
  const limit = limitSeconds(job);
  const tasks = taskCount(job);
  const own = hostUser(allocation.user ?? "");
  const workdir = spec.environment?.workdir ?? "";
  const array = index === null ? "" : ` ArrayJobId=${base} ArrayTaskId=${index.replace(/^\[|\]$/g, "")}`;
  const submitted = localTime(allocation.submitted_at) || "Unknown";
  const eligible = allocation.hold === undefined ? submitted : "Unknown";
  const perTask = spec.environment?.variables?.SLURM_CPUS_PER_TASK ?? 1;
  const memory = spec.resources?.constraints?.memory_gb;
  const [count, held] = [nodeCount(job), allocation.hold !== undefined];
  return [
    `JobId=${allocation.id}${array} JobName=${spec.name ?? ""}`,
    `UserId=${allocation.user ?? ""}(${own.uid}) GroupId=${own.group}(${own.gid}) MCS_label=N/A`,
    `Priority=${held ? 0 : totalOf(allocation.scores ?? {})} Nice=0 Account=${compat.accountOf(spec.tenant ?? "(null)")} QOS=${compat.qosOf(spec.lifecycle?.preemption_class)}`,
    `JobState=${jobState(allocation).long} Reason=${reasonOf(job)} Dependency=${dependencyText(job)}`,
    `Requeue=${spec.lifecycle?.requeue_policy === "never" ? 0 : 1} Restarts=${allocation.requeues ?? 0} BatchFlag=${spec.script === undefined ? 0 : 1} Reboot=0 ExitCode=${exitText(allocation)}`,
    `RunTime=${fullSpan(usedSeconds(job, now))} TimeLimit=${limit === null ? "UNLIMITED" : fullSpan(limit)} TimeMin=N/A`,
    `SubmitTime=${submitted} EligibleTime=${eligible}`,
    `AccrueTime=${eligible}`,
    `StartTime=${localTime(allocation.started_at ?? allocation.estimated_start) || "Unknown"} EndTime=${endOf(job)} Deadline=N/A`,
    `SuspendTime=None SecsPreSuspend=0 LastSchedEval=${localTime(allocation.started_at) || submitted} Scheduler=${allocation.backfilled === true ? "Backfill" : "Main"}`,
    `Partition=${compat.partitionOf(spec.vcluster ?? "")} AllocNode:Sid=${spec.environment?.variables?.SLURM_SUBMIT_HOST ?? "(null)"}:0`,
    `ReqNodeList=${hosts(spec.resources?.constraints?.required_nodes)} ExcNodeList=${hosts(spec.resources?.constraints?.excluded_nodes)}`,
    `NodeList=${compressHosts(nodes)}`,
    ...(nodes[0] === undefined ? [] : [`BatchHost=${nodes[0]}`]),
    `NumNodes=${count} NumCPUs=${tasks} NumTasks=${tasks} CPUs/Task=${perTask} ReqB:S:C:T=0:0:*:*`,
    `TRES=cpu=${tasks}${memory === undefined || memory === 0 ? "" : `,mem=${memoryText(memory)}`},node=${count},billing=${tasks}`,
    `Socks/Node=* NtasksPerN:B:S:C=${spec.resources?.tasks_per_node ?? 0}:0:*:* CoreSpec=*`,
    `MinCPUsNode=${spec.resources?.tasks_per_node ?? 1} MinMemoryNode=${memoryText(memory)} MinTmpDiskNode=0`,
    `Features=${featureText(spec.resources?.constraints?.features)} DelayBoot=00:00:00`,
    "OverSubscribe=NO Contiguous=0 Licenses=(null) Network=(null)",
    `Command=${commandText(job)}`,
    `WorkDir=${workdir}`,
    ...(allocation.spec?.tags?.comment === undefined ? [] : [`Comment=${allocation.spec.tags.comment}`]),
    `StdErr=${fileOf(job, spec.output?.error_file || spec.output?.file)}`,
    "StdIn=/dev/null",
    `StdOut=${fileOf(job, spec.output?.file)}`,
    "Power=",
  ];
}

/** Keeps patterns without a single value: in pending arrays, and patterns that only a node can fill. */
function fileOf({ allocation, index }: SlurmJob, path: string | undefined): string {
  if (path === undefined || path === "") return "(null)";
  const workdir = allocation.spec?.environment?.workdir || "/";
  const known =
    index?.startsWith("[") === true || /%(\d*[NnstJ])/.test(path) ? path : outputPath(path, allocation, workdir);
  return resolve(workdir, known);
}

const hosts = (names: readonly string[] | undefined): string =>
  names === undefined || names.length === 0 ? "(null)" : compressHosts(names);

function endOf(job: SlurmJob): string {
  const { started_at, ended_at } = job.allocation;
  if (ended_at !== undefined) return localTime(ended_at);
  const limit = limitSeconds(job);
  if (started_at === undefined || limit === null) return "Unknown";
  return localTime(new Date(Date.parse(started_at) + limit * 1000).toISOString());
}

export function nodeRecord(node: Node, partitions: readonly Partition[]): readonly string[] {
  const { capabilities } = node;
  const cores = capabilities?.cpu_cores ?? 0;
  const features = featureText(capabilities?.features);
  const own = partitions.filter(({ nodes }) => nodes.some(({ id }) => id === node.id)).map(({ name }) => name);
  const busy = isBusy(node);
  const all = `cpu=${cores},mem=${megabytes(node)}M`;
  return [
    `NodeName=${node.id} CoresPerSocket=1`,
    `CPUAlloc=${busy ? cores : 0} CPUEfctv=${cores} CPUTot=${cores} CPULoad=N/A`,
    `AvailableFeatures=${features}`,
    `ActiveFeatures=${features}`,
    `Gres=${gresText(node)}`,
    `NodeAddr=${node.address || node.id} NodeHostName=${capabilities?.hostname || node.id} Version=${node.agent_version ?? ""}`,
    `OS=Linux ${capabilities?.kernel ?? ""}`,
    `RealMemory=${megabytes(node)} AllocMem=${busy ? megabytes(node) : 0} FreeMem=N/A Sockets=${cores} Boards=1`,
    `State=${nodeState(node).long.toUpperCase()} ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A`,
    `Partitions=${own.join(",")}`,
    `CfgTRES=${all},billing=${cores}${gpuTres(node)}`,
    `AllocTRES=${busy ? `${all}${gpuTres(node)}` : ""}`,
    ...((node.reason ?? "") === "" ? [] : [`Reason=${node.reason} [${localTime(node.since) || "Unknown"}]`]),
  ];
}

const gpuTres = ({ capabilities }: Node): string =>
  (capabilities?.gpu_count ?? 0) === 0 ? "" : `,gres/gpu=${capabilities?.gpu_count}`;

export function partitionRecord({ name, vcluster, nodes }: Partition): readonly string[] {
  const memory = nodes.reduce((sum, node) => sum + megabytes(node), 0);
  const cores = nodes.reduce((sum, { capabilities }) => sum + (capabilities?.cpu_cores ?? 0), 0);
  const span = (seconds: number | undefined, absent: string): string =>
    seconds === undefined || seconds === 0 ? absent : fullSpan(seconds);
  return [
    `PartitionName=${name}`,
    "AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL",
    `AllocNodes=ALL Default=${vcluster.is_default === true ? "YES" : "NO"} QoS=N/A`,
    `DefaultTime=${span(vcluster.default_walltime_seconds, "NONE")} DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO`,
    `MaxNodes=UNLIMITED MaxTime=${span(vcluster.max_walltime_seconds, "UNLIMITED")} MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED`,
    `Nodes=${compressHosts(nodes.map(({ id }) => id))}`,
    `PriorityJobFactor=1 PriorityTier=1 RootOnly=NO ReqResv=NO OverSubscribe=${vcluster.shares_nodes === true ? "NO" : "EXCLUSIVE"}`,
    `OverTimeLimit=NONE PreemptMode=${vcluster.preemptible === "never" ? "OFF" : "REQUEUE"}`,
    `State=UP TotalCPUs=${cores} TotalNodes=${nodes.length} SelectTypeParameters=NONE`,
    "JobDefaults=(null)",
    "DefMemPerNode=UNLIMITED MaxMemPerNode=UNLIMITED",
    `TRES=cpu=${cores},mem=${memory}M,node=${nodes.length},billing=${cores}`,
  ];
}
