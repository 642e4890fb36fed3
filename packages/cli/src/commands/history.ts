// `lattice history`: allocations that have ended, with what they used; newest first.

import type { AccountingQuery, AccountingRecord } from "@lattice/sdk";
import { type Command, InvalidArgumentError } from "commander";
import { type Context, createContext } from "../context.ts";
import { noneText } from "../output/none.ts";
import { parseCount } from "../parse/count.ts";
import { parseMoment } from "../parse/moment.ts";
import { ENDED_STATES, parseStates } from "../parse/states.ts";
import { historyColumns } from "./history/table.ts";

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
    .option("--since <time>", "that were there from then on: 2026-03-01, or 7d for seven days ago", parseMoment)
    .option("--until <time>", "submitted before then", parseMoment)
    .option("--state <states>", `only these (${ENDED_STATES.join(", ")})`, (text) => parseStates(text, ENDED_STATES))
    .option("--user <name>", "of this user")
    .option("--all", "of all users that you may see")
    .option("--project <name>", "of this project")
    .option("--limit <count>", "how many to show", (text) => parseCount(text, 1, 1_000_000), DEFAULT_LIMIT)
    .action(async (flags: HistoryFlags) => {
      if (flags.all === true && flags.user !== undefined) {
        throw new InvalidArgumentError("--all and --user exclude each other");
      }
      await show(await createContext(command), flags);
    });
}

async function show({ client, print, settings }: Context, flags: HistoryFlags): Promise<void> {
  const user = flags.all === true ? undefined : (flags.user ?? settings.user);
  const query: AccountingQuery = {
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
  if (rows.length === 0) print.note(noneText("allocations that have ended", { ...query, self: settings.user }));
  if (more) print.note(`Showing the newest ${rows.length}; use --limit to see more.`);
}
