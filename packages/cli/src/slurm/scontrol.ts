// `scontrol`: shows jobs, nodes, partitions and lists of hosts, holds and releases jobs, and changes some things about
// them. What Slurm has and Lattice does not is refused by name.

import { writeFileSync } from "node:fs";
import { expandHostlist, ProblemError } from "@lattice/wire";
import { clean } from "../output/text.ts";
import { version } from "../version.ts";
import { readCluster } from "./cluster-nodes.ts";
import type { SlurmCommand } from "./command.ts";
import { complain, type Desk, print } from "./desk.ts";
import { compressHosts } from "./hostlist.ts";
import { type Job, LIVE, listJobs, plainJob } from "./jobs.ts";
import { notOffered, Refusal, refuse } from "./refusal.ts";
import { jobRecord, nodeRecord, partitionRecord } from "./scontrol-show.ts";
import { localTime } from "./times.ts";
import { isUnseen } from "./unseen.ts";
import { type Grammar, has, readWords } from "./words.ts";

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

/** What to do instead of what is not there. */
const NOT_OFFERED: Readonly<Record<string, string>> = {
  suspend: "cancel the job and submit it again",
  resume: "suspended jobs go on by themselves when there is room",
  requeue: "cancel the job and submit it again",
  requeuehold: "cancel the job and submit it again",
  top: "use --qos when submitting",
  reboot: "see `lattice node`",
  create: "reservations are not there",
  delete: "reservations are not there",
  reconfigure: "see `lattice admin`",
  shutdown: "see `lattice admin`",
};

export const command: SlurmCommand = {
  help: "Usage: scontrol [-o] show job|node|partition|config [ID] | show hostnames|hostlist LIST | update JobId=ID [TimeLimit=[+|-]TIME] [JobName=NAME] [QOS=QOS] [Comment=TEXT] [Priority=0] | update NodeName=LIST State=DRAIN|RESUME|DOWN [Reason=TEXT] | hold|release ID... | write batch_script ID [FILE|-] | ping | version",
  run: async (desk, argv) => {
    const words = readWords(GRAMMAR, argv);
    const [verb = "", ...rest] = words.operands;
    const name = verb.toLowerCase();
    const say = recordPrinter(has(words, "oneliner"));
    if (name === "show") return show(desk, rest, say);
    if (name === "update") return (await import("./scontrol-update.ts")).update(desk, rest);
    if (name === "write") return writeScript(desk, rest);
    if (name === "version") return print(`lattice ${version}`) ?? 0;
    if (name === "hold" || name === "uhold") return holdAll(desk, rest, true);
    if (name === "release") return holdAll(desk, rest, false);
    if (name === "ping") {
      await desk.client.ready();
      print(`Slurmctld(primary) at ${desk.client.url} is UP`);
      return 0;
    }
    const instead = Object.hasOwn(NOT_OFFERED, name) ? NOT_OFFERED[name] : undefined;
    if (instead !== undefined) throw notOffered("scontrol", `scontrol ${name}`, instead);
    throw new Refusal([`invalid keyword: ${verb}`]);
  },
};

type Say = (lines: readonly string[]) => void;

const recordPrinter =
  (oneLine: boolean): Say =>
  (lines) => {
    const shown = lines.map(clean);
    print(oneLine ? shown.join(" ") : `${shown.join("\n   ")}\n`);
  };

async function show(desk: Desk, [what = "", ...rest]: readonly string[], say: Say): Promise<number> {
  const [inline, ofInline] = what.split("=");
  const kind = (inline ?? "").toLowerCase();
  const asked = ofInline ?? rest[0];
  switch (kind) {
    case "job":
    case "jobs":
    case "jobid":
      return showJobs(desk, asked, say);
    case "node":
    case "nodes":
      return showNodes(desk, asked, say);
    case "partition":
    case "partitions":
      return showPartitions(desk, asked, say);
    case "config":
      return showConfig(desk);
    case "reservation":
    case "reservations":
      return print("No reservations in the system") ?? 0;
    case "license":
    case "licenses":
      return print("No licenses configured in Slurm.") ?? 0;
    case "hostnames":
    case "hostname":
      return showHostnames(asked ?? desk.env.SLURM_JOB_NODELIST);
    case "hostlist":
    case "hostlistsorted":
      print(compressHosts(expanded(rest[0] ?? "", "show hostlist")));
      return 0;
    default:
      throw new Refusal([`invalid entity:${what} for keyword:show`]);
  }
}

async function showJobs(desk: Desk, id: string | undefined, say: Say): Promise<number> {
  const { client } = desk;
  const jobs =
    id === undefined ? await listJobs(client, { filter: { state: LIVE }, unfold: false }) : await jobsOf(desk, id);
  if (jobs.length === 0) print("No jobs in the system");
  for (const job of jobs) say(jobRecord(job, desk));
  return 0;
}

async function jobsOf({ client }: Desk, id: string): Promise<readonly Job[]> {
  try {
    const job = await client.get(id);
    if (job.group === undefined) return [plainJob(job)];
    const some = (await listJobs(client, { filter: { state: LIVE }, unfold: false })).filter(({ base }) => base === id);
    return some.length === 0 ? [plainJob(job)] : some;
  } catch (error) {
    if (!isUnseen(error)) throw error;
    throw new Refusal(["slurm_load_jobs error: Invalid job id specified"]);
  }
}

async function showNodes(desk: Desk, text: string | undefined, say: Say): Promise<number> {
  const { nodes, partitions } = await readCluster(desk);
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

async function showPartitions(desk: Desk, name: string | undefined, say: Say): Promise<number> {
  const { partitions } = await readCluster(desk);
  const shown = partitions.filter((partition) => name === undefined || partition.name === name);
  if (shown.length === 0) throw new Refusal([`Partition ${name ?? ""} not found`]);
  for (const partition of shown) say(partitionRecord(partition));
  return 0;
}

/** What scripts look up, and what is true here. */
async function showConfig({ client, now }: Desk): Promise<number> {
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

/** `write batch_script ID [FILE]`: "-" is standard output. */
async function writeScript(desk: Desk, [what = "", id, file = `slurm-${id}.sh`]: readonly string[]): Promise<number> {
  if (what.toLowerCase() !== "batch_script" || id === undefined)
    throw new Refusal([`invalid entity:${what} for keyword:write`]);
  const [job] = await jobsOf(desk, id);
  const script = job?.allocation.spec?.script;
  if (script === undefined) throw new Refusal(["job script retrieval failed: Job has no script"]);
  if (file === "-") process.stdout.write(script);
  else writeFileSync(file, script);
  if (file !== "-") print(`batch script for job ${id} written to ${file}`);
  return 0;
}

function showHostnames(text: string | undefined): number {
  if (text === undefined || text === "") throw new Refusal(["SLURM_JOB_NODELIST not set"]);
  for (const name of expanded(text, "show hostnames")) print(name);
  return 0;
}

function expanded(text: string, what: string): readonly string[] {
  const names = expandHostlist(text);
  if (names === null) throw refuse("scontrol", `${what}: "${text}" is not a list of hosts`);
  return names;
}

/** `scontrol hold 12,13 14_[1-3]`, also `job=12`; what cannot be done is told, and the rest goes on. */
async function holdAll({ client }: Desk, words: readonly string[], hold: boolean): Promise<number> {
  const ids = words.flatMap((word) => word.replace(/^job(id)?=/i, "").split(/,(?![^[]*\])/)).filter((id) => id !== "");
  if (ids.length === 0) throw new Refusal([`too few arguments for keyword:${hold ? "hold" : "release"}`]);
  let exit = 0;
  for (const id of ids) {
    try {
      await (hold ? client.hold(id) : client.release(id));
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      if (error.problem.code === "connection_failed") throw error;
      complain(`${HOLD_PROBLEMS[error.problem.code] ?? error.problem.detail} for job ${id}`);
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
