// `scontrol`: shows jobs, nodes, partitions and host lists, holds and releases jobs, and updates jobs and nodes. An
// unsupported keyword is an error that names the alternative.

import { writeFileSync } from "node:fs";
import { compressHosts, expandHostlist, ProblemError } from "@lattice/wire";
import { clean } from "../output/text.ts";
import { version } from "../version.ts";
import { readCluster } from "./cluster-nodes.ts";
import type { SlurmCommand } from "./command.ts";
import { type Grammar, has, parseCommandLine } from "./command-line.ts";
import { print, printError, type SlurmContext } from "./context.ts";
import { isHidden } from "./hidden-jobs.ts";
import { LIVE, listJobs, plainJob, type SlurmJob } from "./jobs.ts";
import { jobRecord, nodeRecord, partitionRecord } from "./scontrol-show.ts";
import { SlurmError, slurmError, unsupported } from "./slurm-error.ts";
import { localTime } from "./times.ts";

const GRAMMAR: Grammar = {
  program: "scontrol",
  rules: [
    { long: "oneliner", short: "o" },
    { long: "details", short: "d" },
    { long: "all", short: "a" },
    { long: "quiet", short: "Q" },
    { long: "verbose", short: "v" },
  ],
};

/** Alternatives to unsupported keywords. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  suspend: "cancel the job and submit it again",
  resume: "preempted jobs resume automatically; for a job suspended at its time limit use `lattice resume ID`",
  requeue: "cancel the job and submit it again",
  requeuehold: "cancel the job and submit it again",
  top: "use --qos when submitting",
  reboot: "use `lattice node`",
  create: "Lattice has no reservations to create or delete",
  delete: "Lattice has no reservations to create or delete",
  reconfigure: "use `lattice admin`",
  shutdown: "use `lattice admin`",
};

export const command: SlurmCommand = {
  help: "Usage: scontrol [-o] show job|node|partition|config [ID] | show hostnames|hostlist LIST | update JobId=ID [TimeLimit=[+|-]TIME] [JobName=NAME] [QOS=QOS] [Comment=TEXT] [Priority=0] | update NodeName=LIST State=DRAIN|RESUME|DOWN [Reason=TEXT] | hold|release ID... | write batch_script ID [FILE|-] | ping | version",
  run: async (context, argv) => {
    const words = parseCommandLine(GRAMMAR, argv);
    const [verb = "", ...rest] = words.operands;
    const name = verb.toLowerCase();
    const say = recordPrinter(has(words, "oneliner"));
    if (name === "show") return show(context, rest, say);
    if (name === "update") return (await import("./scontrol-update.ts")).update(context, rest);
    if (name === "write") return writeScript(context, rest);
    if (name === "version") return print(`lattice ${version}`) ?? 0;
    if (name === "hold" || name === "uhold") return holdAll(context, rest, true);
    if (name === "release") return holdAll(context, rest, false);
    if (name === "ping") {
      await context.client.ready();
      print(`Slurmctld(primary) at ${context.client.url} is UP`);
      return 0;
    }
    const instead = Object.hasOwn(UNSUPPORTED, name) ? UNSUPPORTED[name] : undefined;
    if (instead !== undefined) throw unsupported("scontrol", `scontrol ${name}`, instead);
    throw new SlurmError([`invalid keyword: ${verb}`]);
  },
};

type Say = (lines: readonly string[]) => void;

const recordPrinter =
  (oneLine: boolean): Say =>
  (lines) => {
    const shown = lines.map(clean);
    print(oneLine ? shown.join(" ") : `${shown.join("\n   ")}\n`);
  };

async function show(context: SlurmContext, [what = "", ...rest]: readonly string[], say: Say): Promise<number> {
  const [inline, ofInline] = what.split("=");
  const kind = (inline ?? "").toLowerCase();
  const name = ofInline ?? rest[0];
  switch (kind) {
    case "job":
    case "jobs":
    case "jobid":
      return showJobs(context, name, say);
    case "node":
    case "nodes":
      return showNodes(context, name, say);
    case "partition":
    case "partitions":
      return showPartitions(context, name, say);
    case "config":
      return showConfig(context);
    case "reservation":
    case "reservations":
      return print("No reservations in the system") ?? 0;
    case "license":
    case "licenses":
      return print("No licenses configured in Slurm.") ?? 0;
    case "hostnames":
    case "hostname":
      return showHostnames(name ?? context.env.SLURM_JOB_NODELIST);
    case "hostlist":
    case "hostlistsorted":
      print(compressHosts(expanded(rest[0] ?? "", "show hostlist")));
      return 0;
    default:
      throw new SlurmError([`invalid entity:${what} for keyword:show`]);
  }
}

async function showJobs(context: SlurmContext, id: string | undefined, say: Say): Promise<number> {
  const { client } = context;
  const jobs =
    id === undefined ? await listJobs(client, { filter: { state: LIVE }, unfold: false }) : await jobsOf(context, id);
  if (jobs.length === 0) print("No jobs in the system");
  for (const job of jobs) say(jobRecord(job, context));
  return 0;
}

async function jobsOf({ client }: SlurmContext, id: string): Promise<readonly SlurmJob[]> {
  try {
    const job = await client.get(id);
    if (job.group === undefined) return [plainJob(job)];
    const some = (await listJobs(client, { filter: { state: LIVE }, unfold: false })).filter(({ base }) => base === id);
    return some.length === 0 ? [plainJob(job)] : some;
  } catch (error) {
    if (!isHidden(error)) throw error;
    throw new SlurmError(["slurm_load_jobs error: Invalid job id specified"]);
  }
}

async function showNodes(context: SlurmContext, text: string | undefined, say: Say): Promise<number> {
  const { nodes, partitions } = await readCluster(context);
  if (text === undefined) {
    for (const node of nodes) say(nodeRecord(node, partitions));
    return 0;
  }
  let exit = 0;
  for (const name of expanded(text, "show node")) {
    const node = nodes.find(({ id }) => id === name);
    if (node !== undefined) say(nodeRecord(node, partitions));
    else {
      print(`Node ${name} not found`);
      exit = 1;
    }
  }
  return exit;
}

async function showPartitions(context: SlurmContext, name: string | undefined, say: Say): Promise<number> {
  const { partitions } = await readCluster(context);
  const shown = partitions.filter((partition) => name === undefined || partition.name === name);
  if (shown.length === 0) throw new SlurmError([`Partition ${name ?? ""} not found`]);
  for (const partition of shown) say(partitionRecord(partition));
  return 0;
}

/** Shows the keys that scripts read, with values that are true for Lattice. */
async function showConfig({ client, now }: SlurmContext): Promise<number> {
  await client.ready();
  const lines = {
    AccountingStorageType: "accounting_storage/lattice",
    ClusterName: "lattice",
    PriorityType: "priority/multifactor",
    SchedulerType: "sched/lattice",
    SelectType: "select/linear",
    SlurmctldHost: new URL(client.url).host,
    SLURM_VERSION: version,
  };
  print(`Configuration data as of ${localTime(new Date(now).toISOString())}`);
  for (const [key, value] of Object.entries(lines)) print(`${key.padEnd(23)} = ${value}`);
  return 0;
}

/** `write batch_script ID [FILE]`; "-" is standard output. */
async function writeScript(
  context: SlurmContext,
  [what = "", id, file = `slurm-${id}.sh`]: readonly string[],
): Promise<number> {
  if (what.toLowerCase() !== "batch_script" || id === undefined)
    throw new SlurmError([`invalid entity:${what} for keyword:write`]);
  const [job] = await jobsOf(context, id);
  const script = job?.allocation.spec?.script;
  if (script === undefined) throw new SlurmError(["job script retrieval failed: Job has no script"]);
  if (file === "-") process.stdout.write(script);
  else writeFileSync(file, script);
  if (file !== "-") print(`batch script for job ${id} written to ${file}`);
  return 0;
}

function showHostnames(text: string | undefined): number {
  if (text === undefined || text === "") throw new SlurmError(["SLURM_JOB_NODELIST not set"]);
  for (const name of expanded(text, "show hostnames")) print(name);
  return 0;
}

function expanded(text: string, what: string): readonly string[] {
  const names = expandHostlist(text);
  if (names === null) throw slurmError("scontrol", `${what}: "${text}" is not a list of hosts`);
  return names;
}

/** `scontrol hold 12,13 14_[1-3]`, also `job=12`. Reports each failure and continues with the next job. */
async function holdAll({ client }: SlurmContext, words: readonly string[], hold: boolean): Promise<number> {
  const ids = words.flatMap((word) => word.replace(/^job(id)?=/i, "").split(/,(?![^[]*\])/)).filter((id) => id !== "");
  if (ids.length === 0) throw new SlurmError([`too few arguments for keyword:${hold ? "hold" : "release"}`]);
  let exit = 0;
  for (const id of ids) {
    try {
      await (hold ? client.hold(id) : client.release(id));
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      if (error.problem.code === "connection_failed") throw error;
      printError(`${HOLD_PROBLEMS[error.problem.code] ?? error.problem.detail} for job ${id}`);
      exit = 1;
    }
  }
  return exit;
}

const HOLD_PROBLEMS: Readonly<Record<string, string>> = {
  unknown_allocation: "Invalid job id specified",
  illegal_transition: "Job is no longer pending execution",
  forbidden: "Access/permission denied",
  not_owner: "Access/permission denied",
};
