// `scancel`: cancels jobs by id or by filter (user, name, state, partition and others), or sends them a signal. As in
// Slurm, an unknown id or an ended job is no error.

import { createInterface } from "node:readline";
import type { AllocationSpec, ListAllocationsRequest } from "@lattice/sdk";
import { expandHostlist, ProblemError } from "@lattice/wire";
import { clean } from "../output/text.ts";
import type { SlurmCommand } from "./command.ts";
import { type Grammar, has, lastValue, listOf, parseCommandLine, type SlurmCommandLine } from "./command-line.ts";
import { printError, type SlurmContext } from "./context.ts";
import { findState, jobState } from "./job-state.ts";
import { LIVE } from "./jobs.ts";
import { SlurmError, slurmError } from "./slurm-error.ts";

const GRAMMAR: Grammar = {
  program: "scancel",
  rules: [
    { long: "user", short: "u", value: "required" },
    { long: "name", short: "n", value: "required" },
    { long: "jobname", value: "required" },
    { long: "state", short: "t", value: "required" },
    { long: "partition", short: "p", value: "required" },
    { long: "account", short: "A", value: "required" },
    { long: "signal", short: "s", value: "required" },
    { long: "batch", short: "b" },
    { long: "full", short: "f" },
    { long: "interactive", short: "i" },
    { long: "me" },
    { long: "quiet", short: "Q" },
    { long: "verbose", short: "v" },
    { long: "hurry", short: "H" },
    { long: "ctld" },
    { long: "nodelist", short: "w", value: "required" },
    { long: "qos", short: "q", value: "required" },
  ],
};

const JOB_ID = /^\d+(_(\d+|\[[\d,-]+\]))?$/;

export const command: SlurmCommand = {
  help: "Usage: scancel [-u USER] [-n NAME] [-t PENDING|RUNNING|SUSPENDED] [-p PARTITION] [-A ACCOUNT] [-q QOS] [-w NODES] [--me] [-i] [-s SIGNAL [-b|-f]] [JOB_ID[_INDEX|_[FIRST-LAST]]...]",
  run: async (context, argv) => {
    const words = parseCommandLine(GRAMMAR, argv);
    const ids = words.operands.flatMap((word) => word.split(/,(?![^[]*\])/)).filter((id) => id !== "");
    const wrong = ids.find((id) => !JOB_ID.test(id));
    if (wrong !== undefined) throw slurmError("scancel", `Invalid job id ${wrong}`);
    const filter = filterOf(context, words);
    if (ids.length === 0 && filter === null) {
      throw slurmError("scancel", "No job identification provided");
    }
    const chosen = filter === null ? ids : await chosenIds(context, words, filter, ids);
    const signal = lastValue(words, "signal");
    const act = signal === undefined ? canceller(context) : await signaller(context, words, signal);
    const confirmed = has(words, "interactive") ? await confirmEach(context, chosen) : chosen;
    return await actOnAll(confirmed, words, act);
  },
};

/** Acts on one job. Returns what prevented it, or null. */
type Act = (id: string) => Promise<string | null>;

const canceller =
  ({ client }: SlurmContext): Act =>
  async (id) => {
    await client.cancel(id);
    return null;
  };

/** KILL is a cancel, unless it is for the script only. A signal to an array goes to each running element. */
async function signaller(context: SlurmContext, words: SlurmCommandLine, signal: string): Promise<Act> {
  const { signalJob, signalName } = await import("./signal-job.ts");
  const { client } = context;
  const name = signalName(signal);
  if (name === "KILL" && !has(words, "batch")) return canceller(context);
  const reach = has(words, "full") ? "full" : has(words, "batch") ? "batch" : "steps";
  return async (id) => {
    const job = await client.get(id);
    if (job.group === undefined) return signalJob(client, job, { name, reach });
    const problems: (string | null)[] = [];
    for await (const one of client.listAll({ group_id: id, expand: true, state: ["running"] }))
      problems.push(await signalJob(client, one, { name, reach }));
    return problems.find((problem) => problem !== null) ?? null;
  };
}

/** Asks for each job, as Slurm does; anything but yes means no. */
async function confirmEach({ client, compat }: SlurmContext, ids: readonly string[]): Promise<readonly string[]> {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const confirmed: string[] = [];
  for (const id of ids) {
    const { spec = {} } = await client.get(id).catch((): { spec?: AllocationSpec } => ({}));
    const partition = compat.partitionOf(spec.vcluster ?? "");
    process.stdout.write(`Cancel job_id=${id} name=${clean(spec.name ?? "")} partition=${partition} [y/n]? `);
    const { value = "" } = await lines.next();
    if (/^y/i.test(value)) confirmed.push(id);
  }
  process.stdin.unref();
  return confirmed;
}

function filterOf(context: SlurmContext, words: SlurmCommandLine): ListAllocationsRequest | null {
  const user = has(words, "me") ? context.user : lastValue(words, "user");
  const name = lastValue(words, "name") ?? lastValue(words, "jobname");
  const partition = lastValue(words, "partition");
  const account = lastValue(words, "account");
  const filter: ListAllocationsRequest = {
    ...(user === undefined ? {} : { user }),
    ...(name === undefined ? {} : { name }),
    ...(partition === undefined ? {} : { vcluster: context.compat.vclusterOf(partition) }),
    ...(account === undefined ? {} : { tenant: context.compat.tenantOf(account) }),
  };
  const hasOtherFilter = ["state", "qos", "nodelist"].some((option) => has(words, option));
  return Object.keys(filter).length === 0 && !hasOtherFilter ? null : filter;
}

async function chosenIds(
  context: SlurmContext,
  words: SlurmCommandLine,
  filter: ListAllocationsRequest,
  ids: readonly string[],
) {
  const text = lastValue(words, "state");
  const state = text === undefined ? null : findState(text);
  if (text !== undefined && state === null) {
    throw new SlurmError([`scancel: error: Invalid job state specified: ${text}`]);
  }
  const qos = listOf(words, "qos");
  const hosts = listOf(words, "nodelist")?.flatMap((text) => expandHostlist(text) ?? [text]);
  // With a state or nodes, single elements of an array match; otherwise the whole array does.
  const chosen: string[] = [];
  const expand = state !== null || hosts !== undefined;
  for await (const job of context.client.listAll({ ...filter, state: LIVE, expand })) {
    if (state !== null && jobState(job).long !== state.long) continue;
    if (qos !== undefined && !qos.includes(context.compat.qosOf(job.spec?.lifecycle?.preemption_class))) continue;
    if (hosts !== undefined && !(job.nodes ?? []).some((node) => hosts.includes(node))) continue;
    if (ids.length === 0 || ids.some((id) => job.id === id || job.id.startsWith(`${id}_`))) chosen.push(job.id);
  }
  return chosen;
}

async function actOnAll(ids: readonly string[], words: SlurmCommandLine, act: Act): Promise<number> {
  let exit = 0;
  for (const id of ids) {
    if (has(words, "verbose")) printError(`scancel: Terminating job ${id}`);
    const problem = await act(id).catch(problemOf);
    if (problem === null) continue;
    if (!has(words, "quiet")) printError(`scancel: error: Kill job error on job id ${id}: ${problem}`);
    exit = 1;
  }
  return exit;
}

/** Returns null for an ended or unknown job, which is no problem. */
function problemOf(error: unknown): string | null {
  if (!(error instanceof ProblemError) || error.problem.code === "connection_failed") throw error;
  const { code, detail } = error.problem;
  if (code === "unknown_allocation" || code === "illegal_transition") return null;
  const denied = code === "forbidden" || code === "not_owner" || code === "tenant_mismatch";
  return denied ? "Access/permission denied" : detail;
}
