// `scancel`: ends jobs by id, or all that fit user, name, state and partition. As in Slurm, an id that
// does not exist, or whose job has ended, is no error.

import type { AllocationFilter } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import type { SlurmCommand } from "./command.ts";
import { complain, type Desk } from "./desk.ts";
import { findState, jobState } from "./job-state.ts";
import { LIVE } from "./jobs.ts";
import { notOffered, Refusal, refuse } from "./refusal.ts";
import { type Grammar, has, lastValue, readWords, type Words } from "./words.ts";

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
  ],
};

const JOB_ID = /^\d+(_(\d+|\[[\d,-]+\]))?$/;

export const command: SlurmCommand = {
  help: "Usage: scancel [-u USER] [-n NAME] [-t PENDING|RUNNING|SUSPENDED] [-p PARTITION] [-A ACCOUNT] [--me] [JOB_ID[_INDEX|_[FIRST-LAST]]...]",
  run: async (desk, argv) => {
    const words = readWords(GRAMMAR, argv);
    refuseSignal(lastValue(words, "signal"));
    const ids = words.operands.flatMap((word) => word.split(/,(?![^[]*\])/)).filter((id) => id !== "");
    const wrong = ids.find((id) => !JOB_ID.test(id));
    if (wrong !== undefined) throw refuse("scancel", `Invalid job id ${wrong}`);
    const filter = filterOf(desk, words);
    if (ids.length === 0 && filter === null) {
      throw refuse("scancel", "No job identification provided");
    }
    const chosen = filter === null ? ids : await chosenIds(desk, words, filter, ids);
    return await cancelAll(desk, chosen, has(words, "quiet"));
  },
};

/** TERM and KILL are what cancelling sends; any other would need a way to a job's processes. */
function refuseSignal(signal: string | undefined): void {
  const name = signal?.toUpperCase().replace(/^SIG/, "");
  if (name === undefined || ["TERM", "15", "KILL", "9"].includes(name)) return;
  throw notOffered("scancel", `sending the signal ${signal}`, "leave --signal out to end the job");
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
  return Object.keys(filter).length === 0 && !has(words, "state") ? null : filter;
}

async function chosenIds(desk: Desk, words: Words, filter: AllocationFilter, ids: readonly string[]) {
  const asked = lastValue(words, "state");
  const wanted = asked === undefined ? null : findState(asked);
  if (asked !== undefined && wanted === null) {
    throw new Refusal([`scancel: error: Invalid job state specified: ${asked}`]);
  }
  // Without a state the whole of an array goes; with one, those elements that are in it.
  const chosen: string[] = [];
  for await (const job of desk.client.listAll({ ...filter, state: LIVE, expand: wanted !== null })) {
    if (wanted !== null && jobState(job).long !== wanted.long) continue;
    if (ids.length === 0 || ids.some((id) => job.id === id || job.id.startsWith(`${id}_`))) chosen.push(job.id);
  }
  return chosen;
}

async function cancelAll({ client }: Desk, ids: readonly string[], quiet: boolean): Promise<number> {
  let exit = 0;
  for (const id of ids) {
    try {
      await client.cancel(id);
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      const { code, detail } = error.problem;
      if (code === "unknown_allocation" || code === "illegal_transition") continue;
      if (code === "connection_failed") throw error;
      const denied = code === "forbidden" || code === "not_owner" || code === "tenant_mismatch";
      if (!quiet)
        complain(`scancel: error: Kill job error on job id ${id}: ${denied ? "Access/permission denied" : detail}`);
      exit = 1;
    }
  }
  return exit;
}
