// `scancel`: ends jobs by id, or all that fit user, name, state and partition, or sends them a signal. As in Slurm, an
// id that does not exist, or whose job has ended, is no error.

import { createInterface } from "node:readline";
import type { AllocationFilter, AllocationSpec } from "@lattice/sdk";
import { expandHostlist, ProblemError } from "@lattice/wire";
import { clean } from "../output/text.ts";
import type { SlurmCommand } from "./command.ts";
import { complain, type Desk } from "./desk.ts";
import { findState, jobState } from "./job-state.ts";
import { LIVE } from "./jobs.ts";
import { Refusal, refuse } from "./refusal.ts";
import { type Grammar, has, lastValue, listOf, readWords, type Words } from "./words.ts";

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
  run: async (desk, argv) => {
    const words = readWords(GRAMMAR, argv);
    const ids = words.operands.flatMap((word) => word.split(/,(?![^[]*\])/)).filter((id) => id !== "");
    const wrong = ids.find((id) => !JOB_ID.test(id));
    if (wrong !== undefined) throw refuse("scancel", `Invalid job id ${wrong}`);
    const filter = filterOf(desk, words);
    if (ids.length === 0 && filter === null) {
      throw refuse("scancel", "No job identification provided");
    }
    const chosen = filter === null ? ids : await chosenIds(desk, words, filter, ids);
    const told = lastValue(words, "signal");
    const act = told === undefined ? ender(desk) : await signaller(desk, words, told);
    const agreed = has(words, "interactive") ? await agreedTo(desk, chosen) : chosen;
    return await toAll(agreed, words, act);
  },
};

/** Does it to one job, and answers what hindered it, or null. */
type Act = (id: string) => Promise<string | null>;

const ender =
  ({ client }: Desk): Act =>
  async (id) => {
    await client.cancel(id);
    return null;
  };

/** KILL is what cancelling comes to, unless only the script is meant. An array is each of its elements that run. */
async function signaller(desk: Desk, words: Words, told: string): Promise<Act> {
  const { signalJob, signalName } = await import("./signal-job.ts");
  const { client } = desk;
  const name = signalName(told);
  if (name === "KILL" && !has(words, "batch")) return ender(desk);
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

/** Asked one by one, as in Slurm; what is not a yes is a no. */
async function agreedTo({ client, compat }: Desk, ids: readonly string[]): Promise<readonly string[]> {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const agreed: string[] = [];
  for (const id of ids) {
    const { spec = {} } = await client.get(id).catch((): { spec?: AllocationSpec } => ({}));
    const partition = compat.partitionOf(spec.vcluster ?? "");
    process.stdout.write(`Cancel job_id=${id} name=${clean(spec.name ?? "")} partition=${partition} [y/n]? `);
    const { value = "" } = await lines.next();
    if (/^y/i.test(value)) agreed.push(id);
  }
  process.stdin.unref();
  return agreed;
}

function filterOf(desk: Desk, words: Words): AllocationFilter | null {
  const user = has(words, "me") ? desk.user : lastValue(words, "user");
  const name = lastValue(words, "name") ?? lastValue(words, "jobname");
  const partition = lastValue(words, "partition");
  const account = lastValue(words, "account");
  const filter: AllocationFilter = {
    ...(user === undefined ? {} : { user }),
    ...(name === undefined ? {} : { name }),
    ...(partition === undefined ? {} : { vcluster: desk.compat.vclusterOf(partition) }),
    ...(account === undefined ? {} : { tenant: desk.compat.tenantOf(account) }),
  };
  const isMore = ["state", "qos", "nodelist"].some((option) => has(words, option));
  return Object.keys(filter).length === 0 && !isMore ? null : filter;
}

async function chosenIds(desk: Desk, words: Words, filter: AllocationFilter, ids: readonly string[]) {
  const asked = lastValue(words, "state");
  const wanted = asked === undefined ? null : findState(asked);
  if (asked !== undefined && wanted === null) {
    throw new Refusal([`scancel: error: Invalid job state specified: ${asked}`]);
  }
  const qos = listOf(words, "qos");
  const hosts = listOf(words, "nodelist")?.flatMap((text) => expandHostlist(text) ?? [text]);
  // Without a state or nodes the whole of an array goes; with them, those elements that fit.
  const chosen: string[] = [];
  const expand = wanted !== null || hosts !== undefined;
  for await (const job of desk.client.listAll({ ...filter, state: LIVE, expand })) {
    if (wanted !== null && jobState(job).long !== wanted.long) continue;
    if (qos !== undefined && !qos.includes(desk.compat.qosOf(job.spec?.lifecycle?.preemption_class))) continue;
    if (hosts !== undefined && !(job.nodes ?? []).some((node) => hosts.includes(node))) continue;
    if (ids.length === 0 || ids.some((id) => job.id === id || job.id.startsWith(`${id}_`))) chosen.push(job.id);
  }
  return chosen;
}

async function toAll(ids: readonly string[], words: Words, act: Act): Promise<number> {
  let exit = 0;
  for (const id of ids) {
    if (has(words, "verbose")) complain(`scancel: Terminating job ${id}`);
    const problem = await act(id).catch(problemOf);
    if (problem === null) continue;
    if (!has(words, "quiet")) complain(`scancel: error: Kill job error on job id ${id}: ${problem}`);
    exit = 1;
  }
  return exit;
}

/** What has ended, or never was, is no problem. */
function problemOf(error: unknown): string | null {
  if (!(error instanceof ProblemError) || error.problem.code === "connection_failed") throw error;
  const { code, detail } = error.problem;
  if (code === "unknown_allocation" || code === "illegal_transition") return null;
  const denied = code === "forbidden" || code === "not_owner" || code === "tenant_mismatch";
  return denied ? "Access/permission denied" : detail;
}
