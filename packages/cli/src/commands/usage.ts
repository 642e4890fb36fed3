// `lattice usage`: the usage of the user, or of a tenant with --tenant, and the state of budgets.

import type { GetTenantUsageRequest, Usage } from "@lattice/sdk";
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

/** The ledger covers this many days. */
const MAX_DAYS = 90;

export function define(command: Command): void {
  command
    .option("--user <name>", "usage of this user")
    .option("--days <count>", "the last days, including today", (text) => parseCount(text, 1, MAX_DAYS))
    .option("--since <day>", "from this day, for example 2026-03-01 (UTC)")
    .option("--until <day>", "up to and including this day")
    .action(async (flags: UsageFlags) => {
      if (flags.days !== undefined && (flags.since !== undefined || flags.until !== undefined)) {
        throw new InvalidArgumentError("--days cannot be combined with --since or --until");
      }
      const context = await createContext(command);
      const usage = await fetchUsage(context, flags, globalFlags(command).tenant);
      const { print, settings } = context;
      if (print.structured) return print.document(usage);
      if (settings.quiet) {
        return print.lines([`node_hours ${usage.node_hours ?? 0}`, `gpu_hours ${usage.gpu_hours ?? 0}`]);
      }
      const terminal = process.stdout.isTTY === true;
      showUsage(print, usage, { graphic: terminal, wide: settings.output === "wide" });
    });
}

/** --tenant requests the usage of the whole tenant; a tenant from the settings only filters the user's own. */
function fetchUsage({ client, settings }: Context, flags: UsageFlags, named: string | undefined): Promise<Usage> {
  const query = queryOf(flags);
  if (named !== undefined) return client.usage.tenant(named, query);
  const { tenant } = settings;
  return client.usage.user({ ...query, ...(tenant === undefined ? {} : { tenant }) });
}

/** Picks the fields, because commander adds the global flags to the same object. */
const queryOf = ({ user, days, since, until }: UsageFlags): GetTenantUsageRequest => ({
  ...(user === undefined ? {} : { user }),
  ...(days === undefined ? {} : { days }),
  ...(since === undefined ? {} : { since }),
  ...(until === undefined ? {} : { until }),
});
