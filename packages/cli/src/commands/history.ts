// `lattice history`: ended allocations with their usage, newest first. Wide output adds owner, place and times.

import type { AccountingRecord, GetAccountingRequest } from "@lattice/sdk";
import { type Command, InvalidArgumentError } from "commander";
import { type Context, createContext } from "../context.ts";
import { emptyListText } from "../output/empty-list.ts";
import { type Paint, paintState } from "../output/paint.ts";
import type { Column } from "../output/table.ts";
import { ABSENT, capitalise } from "../output/text.ts";
import { hoursMinutesSeconds, localTime, shortTime } from "../output/time.ts";
import { parseCount } from "../parse/count.ts";
import { ENDED_STATES, parseStates } from "../parse/states.ts";
import { parseTimestamp } from "../parse/timestamp.ts";

const DEFAULT_LIMIT = 50;

interface HistoryFlags {
  readonly since?: string;
  readonly until?: string;
  readonly state?: readonly (typeof ENDED_STATES)[number][];
  readonly user?: string;
  readonly all?: boolean;
  readonly project?: string;
  readonly limit: number;
}

export function define(command: Command): void {
  command
    .option("--since <time>", "active since then: 2026-03-01, or 7d for seven days ago", parseTimestamp)
    .option("--until <time>", "submitted before then", parseTimestamp)
    .option("--state <states>", `only these states (${ENDED_STATES.join(", ")})`, (text) =>
      parseStates(text, ENDED_STATES),
    )
    .option("--user <name>", "only this user")
    .option("--all", "all users visible to you")
    .option("--project <name>", "only this project")
    .option("--limit <count>", "maximum number of allocations", (text) => parseCount(text, 1, 1_000_000), DEFAULT_LIMIT)
    .action(async (flags: HistoryFlags) => {
      if (flags.all === true && flags.user !== undefined) {
        throw new InvalidArgumentError("--all cannot be combined with --user");
      }
      await show(await createContext(command), flags);
    });
}

async function show({ client, print, settings }: Context, flags: HistoryFlags): Promise<void> {
  const user = flags.all === true ? undefined : (flags.user ?? settings.user);
  const query: GetAccountingRequest = {
    ...(user === undefined ? {} : { user }),
    ...settings.named,
    ...(flags.project === undefined ? {} : { project: flags.project }),
    ...(flags.state === undefined ? {} : { state: flags.state }),
    ...(flags.since === undefined ? {} : { since: flags.since }),
    ...(flags.until === undefined ? {} : { until: flags.until }),
  };
  const rows: AccountingRecord[] = [];
  let more = false;
  for await (const record of client.accounting.listAll(query)) {
    more = rows.length >= flags.limit;
    if (more) break;
    rows.push(record);
  }
  if (print.structured) return print.document({ records: rows });
  if (settings.quiet) return print.lines(rows.map(({ allocation_id }) => allocation_id));
  print.table(historyColumns(print.paint, settings.output === "wide"), rows);
  if (rows.length === 0) print.note(emptyListText("ended allocations", { ...query, self: settings.user }));
  if (more) print.note(`Showing the newest ${rows.length}; use --limit to see more.`);
}

export function historyColumns(paint: Paint, wide: boolean): readonly Column<AccountingRecord>[] {
  const narrow: Column<AccountingRecord>[] = [
    { header: "ID", value: ({ allocation_id }) => allocation_id },
    { header: "NAME", value: ({ name }) => name ?? "", flexible: true },
    {
      header: "STATE",
      value: ({ state }) => capitalise(state),
      paint: (text, { state }) => paintState(paint, state, text),
    },
    { header: "EXIT", value: ({ exit_code }) => String(exit_code ?? ABSENT), align: "right", optional: true },
    { header: "NODES", value: ({ nodes }) => String(nodes ?? 0), align: "right" },
    { header: "ELAPSED", value: ({ elapsed_seconds }) => hoursMinutesSeconds(elapsed_seconds ?? 0) },
    {
      header: "NODE-HOURS",
      shortHeader: "NODE-H",
      value: ({ node_hours }) => hours(node_hours),
      align: "right",
    },
    { header: "GPU-HOURS", shortHeader: "GPU-H", value: ({ gpu_hours }) => hours(gpu_hours), align: "right" },
    { header: "ENDED", value: ({ ended_at }) => localTime(ended_at), short: ({ ended_at }) => shortTime(ended_at) },
  ];
  if (!wide) return narrow;
  return [
    ...narrow,
    { header: "USER", value: ({ user }) => user ?? "" },
    { header: "TENANT", value: ({ tenant }) => tenant ?? "" },
    { header: "PROJECT", value: ({ project }) => project || ABSENT },
    { header: "VCLUSTER", value: ({ vcluster }) => vcluster ?? "" },
    { header: "WAITED", value: ({ waited_seconds }) => hoursMinutesSeconds(waited_seconds ?? 0) },
    { header: "ATTEMPTS", value: ({ attempts }) => String(attempts ?? 0), align: "right" },
    {
      header: "WALLTIME USED",
      value: ({ walltime_used }) => (walltime_used === undefined ? ABSENT : `${Math.round(walltime_used * 100)} %`),
      align: "right",
    },
    { header: "REASON", value: ({ reason }) => reason || ABSENT, flexible: true },
  ];
}

const hours = (value = 0): string => (value === 0 ? "0" : value < 0.01 ? "<0.01" : value.toFixed(2));
