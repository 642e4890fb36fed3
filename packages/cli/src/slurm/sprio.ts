// `sprio`: the score terms that order the queue, in thousandths. Slurm's factors differ: AGE is the wait time, QOS the
// preemption class, JOBSIZE the topology fit, and SITE the sum of all other terms, so that columns add up to the
// priority.

import { DEFAULT_QOS_CLASSES } from "@lattice/wire";
import type { SlurmCommand } from "./command.ts";
import { type Grammar, has, lastValue, listOf, parseCommandLine, type SlurmCommandLine } from "./command-line.ts";
import { print, printError, type SlurmContext } from "./context.ts";
import { type Field, type Fields, headerLine, parseFormat, rowLine } from "./format.ts";
import { totalOf } from "./job-facts.ts";
import { listJobs, type SlurmJob } from "./jobs.ts";
import { SlurmError } from "./slurm-error.ts";

const GRAMMAR: Grammar = {
  program: "sprio",
  rules: [
    { long: "noheader", short: "h" },
    { long: "jobs", short: "j", value: "required" },
    { long: "user", short: "u", value: "required" },
    { long: "users", value: "required", as: "user" },
    { long: "partition", short: "p", value: "required" },
    { long: "format", short: "o", value: "required" },
    { long: "long", short: "l" },
    { long: "norm", short: "n" },
    { long: "verbose", short: "v" },
  ],
};

const DEFAULT = "%.15i %9r %.10Y %.10S %.10A %.10F %.10J %.10Q";
const NORMAL = "%.15i %9r %10y %10a %10f %10j %10q";
const LONG = "%.15i %9r %.8u %.8o %.10Y %.10S %.10A %.10F %.10J %.10P %.10n %.10Q %.11N";

interface Row {
  readonly job: SlurmJob;
  readonly scores: Readonly<Record<string, number>>;
}

export const command: SlurmCommand = {
  help: "Usage: sprio [-h] [-l] [-n] [-j ID,...] [-u USER,...] [-p PARTITION,...] [-o FORMAT]",
  run: async (context, argv) => {
    const words = parseCommandLine(GRAMMAR, argv);
    const preset = has(words, "norm") ? NORMAL : has(words, "long") ? LONG : DEFAULT;
    const { parts, unknown } = parseFormat(lastValue(words, "format") ?? preset, fieldsOf(context));
    for (const letter of unknown) printError(`sprio: error: Invalid job format specification: ${letter}`);
    const rows = await rowsOf(context, words);
    if (rows.length === 0 && has(words, "jobs"))
      throw new SlurmError(["Unable to find jobs matching user/id(s) specified"]);
    if (!has(words, "noheader")) print(headerLine(parts));
    for (const row of rows) print(rowLine(parts, row));
    return 0;
  },
};

async function rowsOf(context: SlurmContext, words: SlurmCommandLine): Promise<readonly Row[]> {
  const waiting = await listJobs(context.client, { filter: { state: ["pending"] }, unfold: false });
  const ids = listOf(words, "jobs");
  const users = listOf(words, "user");
  const partitions = listOf(words, "partition")?.map(context.compat.vclusterOf);
  const selected = waiting.filter(
    ({ id, base, allocation: { user = "", spec } }) =>
      (ids === undefined || ids.includes(id) || ids.includes(base)) &&
      (users?.includes(user) ?? true) &&
      (partitions?.includes(spec?.vcluster ?? "") ?? true),
  );
  const rows: Row[] = [];
  for (const job of selected) {
    const { scores } = (await context.client.explain(job.allocation.id)).queue ?? {};
    // A job that waits for a dependency or for its turn in an array is not in the queue yet.
    if (scores !== undefined) rows.push({ job, scores });
  }
  return rows.toSorted((a, b) => Number(a.job.base) - Number(b.job.base));
}

const NAMED = ["priority", "wait_time", "fair_share", "topology"] as const;

function fieldsOf({ compat }: SlurmContext): Fields<Row> {
  const part =
    (name: string) =>
    ({ scores }: Row): number =>
      scores[name] ?? 0;
  const rest = ({ scores }: Row): number => totalOf(scores) - NAMED.reduce((sum, name) => sum + (scores[name] ?? 0), 0);
  const whole = (header: string, of: (row: Row) => number): Field<Row> => ({ header, value: (row) => `${of(row)}` });
  const normal = (header: string, of: (row: Row) => number): Field<Row> => ({
    header,
    value: (row) => (of(row) / 1000).toFixed(7),
  });
  const text = (header: string, of: (job: SlurmJob) => string): Field<Row> => ({ header, value: ({ job }) => of(job) });
  const qos = ({ allocation }: SlurmJob): string =>
    compat.qosOf(allocation.spec?.lifecycle?.preemption_class ?? DEFAULT_QOS_CLASSES.normal);
  return {
    a: normal("AGE", part("wait_time")),
    A: whole("AGE", part("wait_time")),
    c: text("CLUSTER", () => "lattice"),
    f: normal("FAIRSHARE", part("fair_share")),
    F: whole("FAIRSHARE", part("fair_share")),
    i: text("JOBID", ({ base }) => base),
    j: normal("JOBSIZE", part("topology")),
    J: whole("JOBSIZE", part("topology")),
    n: text("QOSNAME", qos),
    N: text("NICE", () => "0"),
    o: text("ACCOUNT", ({ allocation }) => compat.accountOf(allocation.spec?.tenant ?? "")),
    p: normal("PARTITION", () => 0),
    P: whole("PARTITION", () => 0),
    q: normal("QOS", part("priority")),
    Q: whole("QOS", part("priority")),
    r: text("PARTITION", ({ allocation }) => compat.partitionOf(allocation.spec?.vcluster ?? "")),
    S: whole("SITE", rest),
    u: text("USER", ({ allocation }) => allocation.user ?? ""),
    y: normal("PRIORITY", ({ scores }) => totalOf(scores)),
    Y: whole("PRIORITY", ({ scores }) => totalOf(scores)),
  };
}
