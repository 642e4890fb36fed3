// `squeue`: pending and running jobs, in Slurm's table or in the caller's format.

import type { AllocationState } from "@lattice/sdk";
import { DEFAULT_QOS_CLASSES, expandHostlist } from "@lattice/wire";
import type { SlurmCommand } from "./command.ts";
import { type Grammar, has, lastValue, listOf, parseCommandLine, type SlurmCommandLine } from "./command-line.ts";
import { print, printError, type SlurmContext } from "./context.ts";
import { type Format, headerLine, parseFormat, parseLongFormat, rowLine } from "./format.ts";
import { isHidden } from "./hidden-jobs.ts";
import { type JobFacts, jobFields, LONG_NAMES } from "./job-fields.ts";
import { findState, JOB_STATES, jobState } from "./job-state.ts";
import { ALL, arrayJobs, LIVE, listJobs, plainJob, type SlurmJob } from "./jobs.ts";
import { SlurmError } from "./slurm-error.ts";
import { dateLine } from "./times.ts";

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
  run: async (context, argv) => {
    const words = withSeparateIds(argv);
    if (has(words, "usage")) return print(command.help) ?? 0;
    if (has(words, "helpformat")) return print(Object.keys(jobFields(context)).join(" ")) ?? 0;
    if (has(words, "helpFormat")) return await printNames(context);
    const interval = lastValue(words, "iterate");
    if (interval === undefined) return show(context, words, false);
    const { repeatEvery: again } = await import("./repeat-every.ts");
    return again("squeue", interval, (now) => show({ ...context, now }, words, true));
  },
};

async function show(context: SlurmContext, words: SlurmCommandLine, repeats: boolean): Promise<number> {
  const selected = (await jobsFor(context, words)).filter((job) => isSelected(context, words, job));
  const jobs = has(words, "start")
    ? await (await import("./job-starts.ts")).estimateStarts(context, selected)
    : selected;
  const ordered = await inOrder(context, words, jobs);
  if (has(words, "json")) {
    const { jobsDocument } = await import("./as-json.ts");
    return print(jobsDocument(ordered, context)) ?? 0;
  }
  const { parts, unknown } = await formatWithFacts(context, words, jobs);
  for (const name of unknown) printError(`squeue: error: Invalid job format specification: ${name}`);
  const headed = !has(words, "noheader");
  if (headed && (repeats || has(words, "long") || has(words, "verbose"))) print(dateLine(new Date(context.now)));
  if (headed) print(headerLine(parts));
  for (const job of ordered) print(rowLine(parts, job));
  return 0;
}

/** Parses the command line; `-j 44` takes the next word although its value is optional. */
function withSeparateIds(argv: readonly string[]): SlurmCommandLine {
  const joined: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    const next = argv[at + 1];
    const takes =
      (word === "-j" || word === "--jobs" || word === "--job") && next !== undefined && !next.startsWith("-");
    joined.push(takes ? `--jobs=${next}` : word);
    if (takes) at += 1;
  }
  const words = parseCommandLine(GRAMMAR, joined);
  const [extra] = words.operands;
  if (extra !== undefined) throw new SlurmError([`squeue: error: Unrecognized option: ${extra}`]);
  return words;
}

async function jobsFor(context: SlurmContext, words: SlurmCommandLine): Promise<readonly SlurmJob[]> {
  const unfold = has(words, "array");
  const ids = listOf(words, "jobs");
  if (ids !== undefined && ids.length > 0) return byIds(context, ids, unfold);
  const [user, ...moreUsers] = usersOf(context, words) ?? [];
  const [partition, ...morePartitions] = listOf(words, "partition") ?? [];
  const [name, ...moreNames] = listOf(words, "name") ?? [];
  const filter = {
    state: requestedStates(words),
    ...(user === undefined || moreUsers.length > 0 ? {} : { user }),
    ...(partition === undefined || morePartitions.length > 0 ? {} : { vcluster: context.compat.vclusterOf(partition) }),
    ...(name === undefined || moreNames.length > 0 ? {} : { name }),
  };
  return listJobs(context.client, { filter, unfold });
}

/** Returns the Lattice states that --states can match. */
function requestedStates(words: SlurmCommandLine): readonly AllocationState[] {
  const names = listOf(words, "states");
  if (names === undefined) return LIVE;
  if (names.some((text) => text.toLowerCase() === "all")) return ALL;
  const known = names.map((text) => {
    const found = findState(text);
    if (found !== null) return found.long;
    throw new SlurmError([
      `squeue: error: Invalid job state specified: ${text}`,
      `squeue: error: Valid job states include: ${JOB_STATES.map(({ long }) => long).join(",")}`,
    ]);
  });
  const ended = known.some((long) => !/^(PENDING|CONFIGURING|RUNNING|SUSPENDED|COMPLETING)$/.test(long));
  return ended ? ALL : LIVE;
}

const usersOf = (context: SlurmContext, words: SlurmCommandLine): readonly string[] | undefined =>
  has(words, "me") ? [context.user] : listOf(words, "user");

const qosOf = (context: SlurmContext, { allocation }: SlurmJob): string =>
  context.compat.qosOf(allocation.spec?.lifecycle?.preemption_class ?? DEFAULT_QOS_CLASSES.normal);

/** A single unknown id is an error; of several ids, the known ones are shown. */
async function byIds(context: SlurmContext, ids: readonly string[], unfold: boolean): Promise<readonly SlurmJob[]> {
  const found: SlurmJob[] = [];
  const wrong = ids.find((id) => !/^\d+(_\d+)?$/.test(id));
  if (wrong !== undefined) throw new SlurmError([`squeue: error: Invalid job id: ${wrong}`]);
  for (const id of ids) {
    try {
      found.push(...(await oneJob(context, id, unfold)));
    } catch (error) {
      if (!isHidden(error)) throw error;
      if (ids.length === 1) throw new SlurmError(["slurm_load_jobs error: Invalid job id specified"]);
    }
  }
  return found;
}

async function oneJob({ client }: SlurmContext, id: string, unfold: boolean): Promise<readonly SlurmJob[]> {
  const allocation = await client.get(id);
  if (allocation.group === undefined) return [plainJob(allocation)];
  const elements = [];
  for await (const element of client.listAll({ group_id: id, expand: true, state: ALL })) elements.push(element);
  return arrayJobs(allocation, elements, unfold);
}

function isSelected(context: SlurmContext, words: SlurmCommandLine, job: SlurmJob): boolean {
  const { allocation } = job;
  const { spec = {}, user = "", nodes = [] } = allocation;
  const among = (list: readonly string[] | undefined, value: string): boolean => list?.includes(value) ?? true;
  const states = listOf(words, "states");
  const { short, long } = jobState(allocation);
  const named = states?.map((text) => text.toUpperCase());
  if (named === undefined && !LIVE.includes(allocation.state)) return false;
  if (named !== undefined && !named.some((text) => text === "ALL" || text === short || text === long)) return false;
  if (!among(usersOf(context, words), user)) return false;
  if (has(words, "notme") && user === context.user) return false;
  // No job has licenses or reservations.
  if (has(words, "licenses") || has(words, "reservation")) return false;
  if (!among(listOf(words, "qos"), qosOf(context, job))) return false;
  if (!among(listOf(words, "partition")?.map(context.compat.vclusterOf), spec.vcluster ?? "")) return false;
  if (!among(listOf(words, "name"), spec.name ?? "")) return false;
  if (!among(listOf(words, "account")?.map(context.compat.tenantOf), spec.tenant ?? "")) return false;
  const hosts = listOf(words, "nodelist")?.flatMap((text) => expandHostlist(text) ?? [text]);
  return hosts === undefined || nodes.some((node) => hosts.includes(node));
}

/** Columns whose values are not in the job's record. Rarely used, so job-facts.ts is loaded on demand. */
const WITH_FACTS = new Set(["CPUS", "TRES_ALLOC", "PRIORITY"]);

async function formatWithFacts(
  context: SlurmContext,
  words: SlurmCommandLine,
  jobs: readonly SlurmJob[],
): Promise<Format<SlurmJob>> {
  const format = await formatOf(context, words, undefined);
  if (!format.parts.some(({ field }) => field !== null && WITH_FACTS.has(field.header))) return format;
  const { factsFor } = await import("./job-facts.ts");
  return formatOf(context, words, await factsFor(context, format.parts, jobs));
}

async function formatOf(
  context: SlurmContext,
  words: SlurmCommandLine,
  facts: JobFacts | undefined,
): Promise<Format<SlurmJob>> {
  const fields = jobFields({ ...context, ...(facts === undefined ? {} : { facts }) });
  const long = lastValue(words, "Format") ?? (has(words, "format") ? undefined : context.env.SQUEUE_FORMAT2);
  if (long !== undefined) {
    const { longJobFields } = await import("./job-fields-long.ts");
    return parseLongFormat(long, { ...fields, ...longJobFields(context.now, facts) }, LONG_NAMES);
  }
  const preset = has(words, "start") ? START : has(words, "long") ? LONG : DEFAULT;
  const text = lastValue(words, "format") ?? (has(words, "start") ? preset : (context.env.SQUEUE_FORMAT ?? preset));
  return parseFormat(text, fields);
}

async function printNames(context: SlurmContext): Promise<number> {
  const { longJobFields } = await import("./job-fields-long.ts");
  print([...Object.keys(LONG_NAMES), ...Object.keys(longJobFields(context.now, undefined))].sort(byText).join(" "));
  return 0;
}

const byText = (a: string, b: string): number => (a < b ? -1 : 1);

const number = (id: string): number => Number(id.replace(/_.*/, ""));

const rank = ({ allocation }: SlurmJob): number => JOB_STATES.indexOf(jobState(allocation));
const isHeld = ({ allocation }: SlurmJob): number => Number(allocation.hold !== undefined);

/** Orders by partition, state (pending first, held ones last), and id, as Slurm does. */
const defaultOrder =
  ({ compat }: SlurmContext) =>
  (a: SlurmJob, b: SlurmJob): number => {
    const [one, other] = [a, b].map(({ allocation }) => compat.partitionOf(allocation.spec?.vcluster ?? ""));
    if (one !== other) return byText(one ?? "", other ?? "");
    const before = rank(a) - rank(b) || isHeld(a) - isHeld(b) || number(a.id) - number(b.id);
    return before || a.id.localeCompare(b.id, "en", { numeric: true });
  };

/** Sorts by -S, or in the default order. */
async function inOrder(
  context: SlurmContext,
  words: SlurmCommandLine,
  jobs: readonly SlurmJob[],
): Promise<readonly SlurmJob[]> {
  const keys = lastValue(words, "sort");
  if (keys === undefined) return jobs.toSorted(defaultOrder(context));
  const { sortJobs: sorted } = await import("./job-order.ts");
  if (!/[pQ]/.test(keys)) return sorted(jobs, keys, jobFields(context));
  const { factsFor } = await import("./job-facts.ts");
  const facts = await factsFor(context, parseFormat("%Q", jobFields(context)).parts, jobs);
  return sorted(jobs, keys, jobFields({ ...context, facts }));
}
