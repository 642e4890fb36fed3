// `lattice usage`: what the user has used, or with --tenant a whole tenant, and what is left of budgets.

import type { Usage, UsageQuery } from "@lattice/sdk";
import { type Command, InvalidArgumentError } from "commander";
import { type Context, createContext } from "../context.ts";
import { globalFlags } from "../global-options.ts";
import { parseCount } from "../parse/count.ts";
import { showUsage } from "./usage/report.ts";

interface UsageFlags {
  readonly user?: string;
  readonly days?: number;
  readonly since?: string;
  readonly until?: string;
}

/** The ledger goes back this far. */
const MOST_DAYS = 90;

export function define(command: Command): void {
  command
    .option("--user <name>", "the usage of this user")
    .option("--days <count>", "of the last days, today included", (text) => parseCount(text, 1, MOST_DAYS))
    .option("--since <day>", "from this day on, for example 2026-03-01 (UTC)")
    .option("--until <day>", "up to and including this day")
    .action(async (flags: UsageFlags) => {
      if (flags.days !== undefined && (flags.since !== undefined || flags.until !== undefined)) {
        throw new InvalidArgumentError("--days and --since or --until exclude each other");
      }
      const context = await createContext(command);
      const usage = await ask(context, flags, globalFlags(command).tenant);
      const { print, settings } = context;
      if (print.structured) return print.document(usage);
      if (settings.quiet) {
        return print.lines([`node_hours ${usage.node_hours ?? 0}`, `gpu_hours ${usage.gpu_hours ?? 0}`]);
      }
      const terminal = process.stdout.isTTY === true;
      showUsage(print, usage, { graphic: terminal, wide: settings.output === "wide" });
    });
}

/** A tenant named on the command line is asked about as a whole; one from the settings narrows the user's own. */
function ask({ client, settings }: Context, flags: UsageFlags, named: string | undefined): Promise<Usage> {
  const query = queryOf(flags);
  if (named !== undefined) return client.usage.tenant(named, query);
  const { tenant } = settings;
  return client.usage.user({ ...query, ...(tenant === undefined ? {} : { tenant }) });
}

/** The flags are more than these: commander puts the global ones beside them. */
const queryOf = ({ user, days, since, until }: UsageFlags): UsageQuery => ({
  ...(user === undefined ? {} : { user }),
  ...(days === undefined ? {} : { days }),
  ...(since === undefined ? {} : { since }),
  ...(until === undefined ? {} : { until }),
});
