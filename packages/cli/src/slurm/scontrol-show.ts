// The records of `scontrol show`: jobs, nodes and partitions as `Key=Value` lines in Slurm's order. What
// Lattice does not know is said as Slurm says it of what is not set.

import { resolve } from "node:path";
import type { Node } from "@lattice/sdk";
import { gresText, isBusy, megabytes, nodeState, type Partition } from "./cluster-nodes.ts";
import type { Compat } from "./compat-file.ts";
import { hostUsers } from "./host-users.ts";
import { compressHosts } from "./hostlist.ts";
import { totalOf } from "./job-facts.ts";
import {
  commandText,
  dependencyText,
  featureText,
  limitSeconds,
  nodeCount,
  reasonOf,
  taskCount,
  usedSeconds,
} from "./job-fields.ts";
import { exitText, jobState } from "./job-state.ts";
import type { Job } from "./jobs.ts";
import { fullSpan, localTime } from "./times.ts";

export interface ShowAround {
  readonly compat: Compat;
  readonly now: number;
}

const hostUser = hostUsers();

/** Lines of a record; all but the first are indented by who prints them. */
export function jobRecord(job: Job, { compat, now }: ShowAround): readonly string[] {
  const { allocation, base, index } = job;
  const { spec = {}, nodes = [] } = allocation;
  const limit = limitSeconds(job);
  const tasks = taskCount(job);
  const own = hostUser(allocation.user ?? "");
  const workdir = spec.environment?.workdir ?? "";
  const array = index === null ? "" : ` ArrayJobId=${base} ArrayTaskId=${index.replace(/^\[|\]$/g, "")}`;
  return [
    `JobId=${allocation.id}${array} JobName=${spec.name ?? ""}`,
    `UserId=${allocation.user ?? ""}(${own.uid}) GroupId=${own.group}(${own.gid}) MCS_label=N/A`,
    `Priority=${allocation.hold === undefined ? totalOf(allocation.scores ?? {}) : 0} Nice=0 Account=${compat.accountOf(spec.tenant ?? "(null)")} QOS=${compat.qosOf(spec.lifecycle?.preemption_class)}`,
    `JobState=${jobState(allocation).long} Reason=${reasonOf(job)} Dependency=${dependencyText(job)}`,
    `Requeue=${spec.lifecycle?.requeue_policy === "never" ? 0 : 1} Restarts=${allocation.requeues ?? 0} BatchFlag=${spec.script === undefined ? 0 : 1} Reboot=0 ExitCode=${exitText(allocation)}`,
    `RunTime=${fullSpan(usedSeconds(job, now))} TimeLimit=${limit === null ? "UNLIMITED" : fullSpan(limit)} TimeMin=N/A`,
    `SubmitTime=${localTime(allocation.submitted_at) || "Unknown"} EligibleTime=${localTime(allocation.submitted_at) || "Unknown"}`,
    `StartTime=${localTime(allocation.started_at ?? allocation.estimated_start) || "Unknown"} EndTime=${endOf(job)} Deadline=N/A`,
    `Partition=${compat.partitionOf(spec.vcluster ?? "")}`,
    `ReqNodeList=${hosts(spec.resources?.constraints?.required_nodes)} ExcNodeList=${hosts(spec.resources?.constraints?.excluded_nodes)}`,
    `NodeList=${compressHosts(nodes)}`,
    ...(nodes[0] === undefined ? [] : [`BatchHost=${nodes[0]}`]),
    `NumNodes=${nodeCount(job)} NumCPUs=${tasks} NumTasks=${tasks} CPUs/Task=${spec.environment?.variables?.SLURM_CPUS_PER_TASK ?? 1} NtasksPerN:B:S:C=${spec.resources?.tasks_per_node ?? 0}:0:*:*`,
    `Features=${featureText(spec.resources?.constraints?.features)} OverSubscribe=NO`,
    `Command=${commandText(job)}`,
    `WorkDir=${workdir}`,
    ...(allocation.spec?.tags?.comment === undefined ? [] : [`Comment=${allocation.spec.tags.comment}`]),
    `StdErr=${fileOf(workdir, spec.output?.error_file || spec.output?.file)}`,
    "StdIn=/dev/null",
    `StdOut=${fileOf(workdir, spec.output?.file)}`,
  ];
}

/** With its patterns, as it was asked for. */
const fileOf = (workdir: string, path: string | undefined): string =>
  path === undefined || path === "" ? "(null)" : resolve(workdir === "" ? "/" : workdir, path);

const hosts = (names: readonly string[] | undefined): string =>
  names === undefined || names.length === 0 ? "(null)" : compressHosts(names);

function endOf(job: Job): string {
  const { started_at, ended_at } = job.allocation;
  if (ended_at !== undefined) return localTime(ended_at);
  const limit = limitSeconds(job);
  if (started_at === undefined || limit === null) return "Unknown";
  return localTime(new Date(Date.parse(started_at) + limit * 1000).toISOString());
}

export function nodeRecord(node: Node, partitions: readonly Partition[]): readonly string[] {
  const { capabilities = {} } = node;
  const cores = capabilities.cpu_cores ?? 0;
  const features = featureText(capabilities.features);
  const own = partitions.filter(({ nodes }) => nodes.some(({ id }) => id === node.id)).map(({ name }) => name);
  return [
    `NodeName=${node.id} CPUAlloc=${isBusy(node) ? cores : 0} CPUTot=${cores}`,
    `AvailableFeatures=${features}`,
    `ActiveFeatures=${features}`,
    `Gres=${gresText(node)}`,
    `NodeAddr=${node.address || node.id} NodeHostName=${capabilities.hostname ?? node.id} Version=${node.agent_version ?? ""}`,
    `OS=${capabilities.kernel ?? ""}`,
    `RealMemory=${megabytes(node)} AllocMem=${isBusy(node) ? megabytes(node) : 0}`,
    `State=${nodeState(node).long.toUpperCase()}`,
    `Partitions=${own.join(",")}`,
    `CfgTRES=cpu=${cores},mem=${megabytes(node)}M${gpuTres(node)}`,
    ...((node.reason ?? "") === "" ? [] : [`Reason=${node.reason}`]),
  ];
}

const gpuTres = ({ capabilities }: Node): string =>
  (capabilities?.gpu_count ?? 0) === 0 ? "" : `,gres/gpu=${capabilities?.gpu_count}`;

export function partitionRecord({ name, vcluster, nodes }: Partition): readonly string[] {
  const cores = nodes.reduce((sum, { capabilities }) => sum + (capabilities?.cpu_cores ?? 0), 0);
  const span = (seconds: number | undefined, absent: string): string =>
    seconds === undefined || seconds === 0 ? absent : fullSpan(seconds);
  return [
    `PartitionName=${name}`,
    "AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL",
    `AllocNodes=ALL Default=${vcluster.is_default === true ? "YES" : "NO"} QoS=N/A`,
    `DefaultTime=${span(vcluster.default_walltime_seconds, "NONE")} Hidden=NO`,
    `MaxNodes=UNLIMITED MaxTime=${span(vcluster.max_walltime_seconds, "UNLIMITED")} MinNodes=0`,
    `Nodes=${compressHosts(nodes.map(({ id }) => id))}`,
    "RootOnly=NO OverSubscribe=EXCLUSIVE",
    `State=UP TotalCPUs=${cores} TotalNodes=${nodes.length}`,
  ];
}
