// `sacct`: pending, running and ended jobs with their batch steps. Without ids it shows the jobs that ended since midnight
// or have not ended.

import type { Allocation } from "@lattice/sdk";
import { expandHostlist } from "@lattice/wire";
import { clean } from "../output/text.ts";
import type { SlurmCommand } from "./command.ts";
import { type Grammar, has, lastValue, listOf, parseCommandLine, type SlurmCommandLine } from "./command-line.ts";
import { print, type SlurmContext } from "./context.ts";
import { fit } from "./format.ts";
import { hostUsers } from "./host-users.ts";
import { nodesById } from "./job-facts.ts";
import { nodeCount } from "./job-fields.ts";
import { findState, jobState } from "./job-state.ts";
import { plainJob } from "./jobs.ts";
import {
  ACCOUNT_FIELDS,
  type AccountField,
  type AccountingContext,
  BRIEF_ACCOUNT_FIELDS,
  DEFAULT_ACCOUNT_FIELDS,
  findAccountField,
  LONG_ACCOUNT_FIELDS,
} from "./sacct-fields.ts";
import { accountedJobs } from "./sacct-jobs.ts";
import { accountRows, cellOf } from "./sacct-steps.ts";
import { SlurmError, slurmError } from "./slurm-error.ts";
import { parseInstant } from "./times.ts";

const GRAMMAR: Grammar = {
  program: "sacct",
  rules: [
    { long: "jobs", short: "j", value: "required" },
    { long: "format", short: "o", value: "required" },
    { long: "user", short: "u", value: "required" },
    { long: "uid", value: "required" },
    { long: "starttime", short: "S", value: "required" },
    { long: "endtime", short: "E", value: "required" },
    { long: "state", short: "s", value: "required" },
    { long: "accounts", short: "A", value: "required" },
    { long: "partition", short: "r", value: "required" },
    { long: "name", value: "required" },
    { long: "nodelist", short: "N", value: "required" },
    { long: "delimiter", value: "required" },
    { long: "allocations", short: "X" },
    { long: "noheader", short: "n" },
    { long: "parsable", short: "p" },
    { long: "parsable2", short: "P" },
    { long: "allusers", short: "a" },
    { long: "brief", short: "b" },
    { long: "long", short: "l" },
    { long: "helpformat", short: "e" },
    { long: "duplicates", short: "D" },
    { long: "verbose", short: "v" },
    { long: "qos", short: "q", value: "required" },
    { long: "nnodes", short: "i", value: "required" },
    // These choose among clusters and units, of which there is one.
    { long: "clusters", short: "M", value: "required" },
    { long: "units", value: "required" },
    { long: "allclusters", short: "L" },
    { long: "completion", short: "c" },
    { long: "truncate", short: "T" },
    { long: "usage" },
    { long: "json" },
    { long: "array" },
    ...["federation", "local", "noconvert"].map((long) => ({ long })),
  ],
};

export const command: SlurmCommand = {
  help: "Usage: sacct [-j ID,...] [-u USER,...] [-a] [-S TIME] [-E TIME] [-s STATES] [-X] [-n] [-P|-p] [--delimiter TEXT] [-o|--format FIELD[%WIDTH],...]",
  run: async (context, argv) => {
    const words = parseCommandLine(GRAMMAR, argv);
    if (words.operands.length > 0) throw new SlurmError([`Error: Unknown arguments: ${words.operands.join(" ")}`]);
    if (has(words, "usage")) return print(command.help) ?? 0;
    if (has(words, "helpformat")) return print(ACCOUNT_FIELDS.map(({ name }) => name).join(" ")) ?? 0;
    const columns = columnsOf(words, context.env.SACCT_FORMAT);
    const selection = {
      ids: listOf(words, "jobs"),
      users: listOf(words, "user") ?? listOf(words, "uid"),
      all: has(words, "allusers"),
      since: instant(words, "starttime", context.now),
    };
    const jobs = (await accountedJobs(context, selection)).filter((job) => isSelected(context, words, job));
    const accounting = await accountingContext(context, columns);
    if (has(words, "json")) {
      const { accountingDocument } = await import("./sacct-json.ts");
      return print(accountingDocument(jobs, accounting)) ?? 0;
    }
    const layout = layoutOf(words, columns);
    if (!has(words, "noheader")) for (const line of layout.header) print(line);
    for (const row of accountRows(jobs, { ids: selection.ids, jobsOnly: has(words, "allocations") }))
      print(layout.row(({ field }) => clean(cellOf(field, row, accounting))));
    return 0;
  },
};

interface AccountColumn {
  readonly field: AccountField;
  readonly width: number;
  readonly right: boolean;
}

/** Parses `Name`, `Name%20` and `Name%-20` (aligned left). */
function columnsOf(words: SlurmCommandLine, own: string | undefined): readonly AccountColumn[] {
  const preset = has(words, "long") ? LONG_ACCOUNT_FIELDS : has(words, "brief") ? BRIEF_ACCOUNT_FIELDS : null;
  const requested = listOf(words, "format") ?? (preset ?? (own || DEFAULT_ACCOUNT_FIELDS)).split(",");
  const names = requested.flatMap((item) =>
    item.toLowerCase() === "all" ? ACCOUNT_FIELDS.map(({ name }) => name) : [item],
  );
  return names.map((item) => {
    const [name = "", width] = item.split("%");
    const field = findAccountField(name.trim());
    if (field === undefined) throw slurmError("sacct", `Invalid field requested: "${name}"`);
    const wide = width === undefined ? field.width : Number.parseInt(width.replace("-", ""), 10);
    return {
      field,
      width: Number.isNaN(wide) ? field.width : wide,
      right: width === undefined ? field.left !== true : !width.startsWith("-"),
    };
  });
}

interface Layout {
  readonly header: readonly string[];
  readonly row: (textOf: (column: AccountColumn) => string) => string;
}

function layoutOf(words: SlurmCommandLine, columns: readonly AccountColumn[]): Layout {
  if (has(words, "parsable") || has(words, "parsable2")) {
    const delimiter = lastValue(words, "delimiter") ?? "|";
    const end = has(words, "parsable2") ? "" : delimiter;
    const row: Layout["row"] = (textOf) => columns.map(textOf).join(delimiter) + end;
    return { header: [row(({ field }) => field.name)], row };
  }
  const row: Layout["row"] = (textOf) => columns.map((column) => `${shortened(textOf(column), column)} `).join("");
  const dashes = columns.map(({ width }) => `${"-".repeat(width)} `).join("");
  return { header: [row(({ field }) => field.name), dashes], row };
}

/** A trailing plus marks a cut value. */
const shortened = (text: string, { width, right }: AccountColumn): string =>
  text.length > width ? `${text.slice(0, width - 1)}+` : fit(text, width, right);

export function instant(words: SlurmCommandLine, name: string, now: number): number | undefined {
  const text = lastValue(words, name);
  if (text === undefined) return undefined;
  const at = parseInstant(text, now);
  if (at === null) throw slurmError("sacct", `Invalid time specification (pos=0): ${text}`);
  return at;
}

function isSelected(context: SlurmContext, words: SlurmCommandLine, job: Allocation): boolean {
  const { spec = {}, user = "" } = job;
  const among = (list: readonly string[] | undefined, value: string): boolean => list?.includes(value) ?? true;
  const until = instant(words, "endtime", context.now);
  if (until !== undefined && Date.parse(job.submitted_at ?? "") > until) return false;
  const states = listOf(words, "state")?.map((text) => {
    const found = findState(text);
    if (found === null) throw slurmError("sacct", `Invalid state specified: ${text}`);
    return found.long;
  });
  if (!among(states, jobState(job).long)) return false;
  if (!has(words, "allusers") && !among(listOf(words, "user"), user)) return false;
  if (!among(listOf(words, "accounts")?.map(context.compat.tenantOf), spec.tenant ?? "")) return false;
  if (!among(listOf(words, "name"), spec.name ?? "")) return false;
  if (!among(listOf(words, "partition")?.map(context.compat.vclusterOf), spec.vcluster ?? "")) return false;
  if (!among(listOf(words, "qos"), context.compat.qosOf(spec.lifecycle?.preemption_class))) return false;
  const [least = 0, most = least] = (lastValue(words, "nnodes") ?? "").split("-").map(Number);
  const count = nodeCount(plainJob(job));
  if (has(words, "nnodes") && !(count >= least && count <= most)) return false;
  const hosts = listOf(words, "nodelist")?.flatMap((text) => expandHostlist(text) ?? [text]);
  return hosts === undefined || (job.nodes ?? []).some((node) => hosts.includes(node));
}

const NEEDS_NODES = new Set(["AllocCPUS", "NCPUS", "CPUTime", "CPUTimeRAW", "AllocTRES"]);

async function accountingContext(context: SlurmContext, columns: readonly AccountColumn[]): Promise<AccountingContext> {
  const { compat, now } = context;
  const needed = columns.some(({ field }) => NEEDS_NODES.has(field.name));
  return { compat, now, nodes: needed ? await nodesById(context) : new Map(), hostUser: hostUsers() };
}
