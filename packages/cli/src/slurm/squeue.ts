// `squeue`: the jobs that wait and run, in Slurm's table or in a format of the caller's own.

import type { AllocationState } from "@lattice/sdk";
import { DEFAULT_QOS_CLASSES, expandHostlist } from "@lattice/wire";
import type { SlurmCommand } from "./command.ts";
import { complain, type Desk, print } from "./desk.ts";
import { type Format, headerLine, parseFormat, parseLongFormat, rowLine } from "./format.ts";
import { type JobFacts, jobFields, LONG_NAMES } from "./job-fields.ts";
import { findState, JOB_STATES, jobState } from "./job-state.ts";
import { ALL, arrayJobs, type Job, LIVE, listJobs, plainJob } from "./jobs.ts";
import { Refusal } from "./refusal.ts";
import { dateLine } from "./times.ts";
import { isUnseen } from "./unseen.ts";
import { type Grammar, has, lastValue, listOf, readWords, type Words } from "./words.ts";

const GRAMMAR: Grammar = {
  program: "squeue",
  rules: [
    { long: "noheader", short: "h" },
    { long: "format", short: "o", value: "required" },
    { long: "Format", short: "O", value: "required" },
    { long: "jobs", short: "j", value: "optional" },
    { long: "user", short: "u", value: "required" },
    { long: "users", value: "required", as: "user" },
    { long: "states", short: "t", value: "required" },
    { long: "partition", short: "p", value: "required" },
    { long: "partitions", value: "required", as: "partition" },
    { long: "name", short: "n", value: "required" },
    { long: "account", short: "A", value: "required" },
    { long: "accounts", value: "required", as: "account" },
    { long: "qos", short: "q", value: "required" },
    { long: "nodelist", short: "w", value: "required" },
    { long: "sort", short: "S", value: "required" },
    { long: "long", short: "l" },
    { long: "array", short: "r" },
    { long: "all", short: "a" },
    { long: "start" },
    { long: "json" },
    { long: "me" },
    { long: "notme" },
    { long: "helpformat" },
    { long: "helpFormat" },
    { long: "noconvert" },
    { long: "hide" },
    { long: "priority", short: "P" },
    { long: "verbose", short: "v" },
    { long: "iterate", short: "i", value: "required" },
    { long: "licenses", short: "L", value: "required" },
    { long: "reservation", short: "R", value: "required" },
    { long: "usage" },
    ...["array-unique", "federation", "local", "sibling"].map((long) => ({ long })),
  ],
};

const DEFAULT = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";
const LONG = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R";
const START = "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R";

export const command: SlurmCommand = {
  help: "Usage: squeue [-h] [-j ID,...] [-u USER,...] [-t STATES] [-p PARTITION,...] [-q QOS,...] [-n NAME,...] [-w NODES] [--me|--notme] [-l] [-r] [--start] [-i SECONDS] [--json] [-o FORMAT] [-O FORMAT] [-S FIELDS] [--helpformat]",
  run: async (desk, argv) => {
    const words = withSeparateIds(argv);
    if (has(words, "usage")) return print(command.help) ?? 0;
    if (has(words, "helpformat")) return print(Object.keys(jobFields(desk)).join(" ")) ?? 0;
    if (has(words, "helpFormat")) return await printNames(desk);
    const interval = lastValue(words, "iterate");
    if (interval === undefined) return show(desk, words, false);
    const { again } = await import("./again.ts");
    return again("squeue", interval, (now) => show({ ...desk, now }, words, true));
  },
};

async function show(desk: Desk, words: Words, again: boolean): Promise<number> {
  const wanted = (await jobsFor(desk, words)).filter((job) => isWanted(desk, words, job));
  const jobs = has(words, "start") ? await (await import("./job-starts.ts")).withStarts(desk, wanted) : wanted;
  const ordered = await inOrder(desk, words, jobs);
  if (has(words, "json")) {
    const { jobsDocument } = await import("./as-json.ts");
    return print(jobsDocument(ordered, desk)) ?? 0;
  }
  const { parts, unknown } = await formatWithFacts(desk, words, jobs);
  for (const name of unknown) complain(`squeue: error: Invalid job format specification: ${name}`);
  const headed = !has(words, "noheader");
  if (headed && (again || has(words, "long") || has(words, "verbose"))) print(dateLine(new Date(desk.now)));
  if (headed) print(headerLine(parts));
  for (const job of ordered) print(rowLine(parts, job));
  return 0;
}

/** `-j 44` has its value in a word of its own, though it may also have none. */
function withSeparateIds(argv: readonly string[]): Words {
  const joined: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    const next = argv[at + 1];
    const takes =
      (word === "-j" || word === "--jobs" || word === "--job") && next !== undefined && !next.startsWith("-");
    joined.push(takes ? `--jobs=${next}` : word);
    if (takes) at += 1;
  }
  const words = readWords(GRAMMAR, joined);
  const [extra] = words.operands;
  if (extra !== undefined) throw new Refusal([`squeue: error: Unrecognized option: ${extra}`]);
  return words;
}

async function jobsFor(desk: Desk, words: Words): Promise<readonly Job[]> {
  const unfold = has(words, "array");
  const ids = listOf(words, "jobs");
  if (ids !== undefined && ids.length > 0) return byIds(desk, ids, unfold);
  const [user, ...moreUsers] = usersOf(desk, words) ?? [];
  const [partition, ...morePartitions] = listOf(words, "partition") ?? [];
  const [name, ...moreNames] = listOf(words, "name") ?? [];
  const filter = {
    state: statesAsked(words),
    ...(user === undefined || moreUsers.length > 0 ? {} : { user }),
    ...(partition === undefined || morePartitions.length > 0 ? {} : { vcluster: desk.compat.vclusterOf(partition) }),
    ...(name === undefined || moreNames.length > 0 ? {} : { name }),
  };
  return listJobs(desk.client, { filter, unfold });
}

/** The states of Lattice that may stand for those asked for. */
function statesAsked(words: Words): readonly AllocationState[] {
  const asked = listOf(words, "states");
  if (asked === undefined) return LIVE;
  if (asked.some((text) => text.toLowerCase() === "all")) return ALL;
  const known = asked.map((text) => {
    const found = findState(text);
    if (found !== null) return found.long;
    throw new Refusal([
      `squeue: error: Invalid job state specified: ${text}`,
      `squeue: error: Valid job states include: ${JOB_STATES.map(({ long }) => long).join(",")}`,
    ]);
  });
  const ended = known.some((long) => !/^(PENDING|CONFIGURING|RUNNING|SUSPENDED|COMPLETING)$/.test(long));
  return ended ? ALL : LIVE;
}

const usersOf = (desk: Desk, words: Words): readonly string[] | undefined =>
  has(words, "me") ? [desk.user] : listOf(words, "user");

const qosOf = (desk: Desk, { allocation }: Job): string =>
  desk.compat.qosOf(allocation.spec?.lifecycle?.preemption_class ?? DEFAULT_QOS_CLASSES.normal);

/** One id that is unknown is an error; of several, those that are known are shown. */
async function byIds(desk: Desk, ids: readonly string[], unfold: boolean): Promise<readonly Job[]> {
  const found: Job[] = [];
  const wrong = ids.find((id) => !/^\d+(_\d+)?$/.test(id));
  if (wrong !== undefined) throw new Refusal([`squeue: error: Invalid job id: ${wrong}`]);
  for (const id of ids) {
    try {
      found.push(...(await oneJob(desk, id, unfold)));
    } catch (error) {
      if (!isUnseen(error)) throw error;
      if (ids.length === 1) throw new Refusal(["slurm_load_jobs error: Invalid job id specified"]);
    }
  }
  return found;
}

async function oneJob({ client }: Desk, id: string, unfold: boolean): Promise<readonly Job[]> {
  const allocation = await client.get(id);
  if (allocation.group === undefined) return [plainJob(allocation)];
  const elements = [];
  for await (const element of client.listAll({ group_id: id, expand: true, state: ALL })) elements.push(element);
  return arrayJobs(allocation, elements, unfold);
}

function isWanted(desk: Desk, words: Words, job: Job): boolean {
  const { allocation } = job;
  const { spec = {}, user = "", nodes = [] } = allocation;
  const among = (list: readonly string[] | undefined, value: string): boolean => list?.includes(value) ?? true;
  const states = listOf(words, "states");
  const { short, long } = jobState(allocation);
  const named = states?.map((text) => text.toUpperCase());
  if (named === undefined && !LIVE.includes(allocation.state)) return false;
  if (named !== undefined && !named.some((text) => text === "ALL" || text === short || text === long)) return false;
  if (!among(usersOf(desk, words), user)) return false;
  if (has(words, "notme") && user === desk.user) return false;
  // No job has any of them.
  if (has(words, "licenses") || has(words, "reservation")) return false;
  if (!among(listOf(words, "qos"), qosOf(desk, job))) return false;
  if (!among(listOf(words, "partition")?.map(desk.compat.vclusterOf), spec.vcluster ?? "")) return false;
  if (!among(listOf(words, "name"), spec.name ?? "")) return false;
  if (!among(listOf(words, "account")?.map(desk.compat.tenantOf), spec.tenant ?? "")) return false;
  const hosts = listOf(words, "nodelist")?.flatMap((text) => expandHostlist(text) ?? [text]);
  return hosts === undefined || nodes.some((node) => hosts.includes(node));
}

/** Columns that a job's own record does not fill; few ask for them, so what does it is loaded then. */
const WITH_FACTS = new Set(["CPUS", "TRES_ALLOC", "PRIORITY"]);

async function formatWithFacts(desk: Desk, words: Words, jobs: readonly Job[]): Promise<Format<Job>> {
  const format = await formatOf(desk, words, undefined);
  if (!format.parts.some(({ field }) => field !== null && WITH_FACTS.has(field.header))) return format;
  const { factsFor } = await import("./job-facts.ts");
  return formatOf(desk, words, await factsFor(desk, format.parts, jobs));
}

async function formatOf(desk: Desk, words: Words, facts: JobFacts | undefined): Promise<Format<Job>> {
  const fields = jobFields({ ...desk, ...(facts === undefined ? {} : { facts }) });
  const long = lastValue(words, "Format") ?? (has(words, "format") ? undefined : desk.env.SQUEUE_FORMAT2);
  if (long !== undefined) {
    const { longJobFields } = await import("./job-fields-long.ts");
    return parseLongFormat(long, { ...fields, ...longJobFields(desk.now, facts) }, LONG_NAMES);
  }
  const usual = has(words, "start") ? START : has(words, "long") ? LONG : DEFAULT;
  const text = lastValue(words, "format") ?? (has(words, "start") ? usual : (desk.env.SQUEUE_FORMAT ?? usual));
  return parseFormat(text, fields);
}

async function printNames(desk: Desk): Promise<number> {
  const { longJobFields } = await import("./job-fields-long.ts");
  print([...Object.keys(LONG_NAMES), ...Object.keys(longJobFields(desk.now, undefined))].sort(byText).join(" "));
  return 0;
}

const byText = (a: string, b: string): number => (a < b ? -1 : 1);

const number = (id: string): number => Number(id.replace(/_.*/, ""));

const rank = ({ allocation }: Job): number => JOB_STATES.indexOf(jobState(allocation));
const isHeld = ({ allocation }: Job): number => Number(allocation.hold !== undefined);

/** By partition, those that wait first and among them the held ones last, as in Slurm. */
const usual =
  ({ compat }: Desk) =>
  (a: Job, b: Job): number => {
    const [one, other] = [a, b].map(({ allocation }) => compat.partitionOf(allocation.spec?.vcluster ?? ""));
    if (one !== other) return byText(one ?? "", other ?? "");
    const before = rank(a) - rank(b) || isHeld(a) - isHeld(b) || number(a.id) - number(b.id);
    return before || a.id.localeCompare(b.id, "en", { numeric: true });
  };

/** By the letters of -S, or as usual. */
async function inOrder(desk: Desk, words: Words, jobs: readonly Job[]): Promise<readonly Job[]> {
  const keys = lastValue(words, "sort");
  if (keys === undefined) return jobs.toSorted(usual(desk));
  const { sorted } = await import("./job-order.ts");
  if (!/[pQ]/.test(keys)) return sorted(jobs, keys, jobFields(desk));
  const { factsFor } = await import("./job-facts.ts");
  const facts = await factsFor(desk, parseFormat("%Q", jobFields(desk)).parts, jobs);
  return sorted(jobs, keys, jobFields({ ...desk, facts }));
}
