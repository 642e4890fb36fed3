// `lattice status`: the user's own allocations, newest first, or the details of those named.

import type { Timeline } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import { type Command, InvalidArgumentError } from "commander";
import { type Context, createContext } from "../context.ts";
import { parseCount } from "../parse/count.ts";
import { parseMoment } from "../parse/moment.ts";
import { gather } from "../parse/pairs.ts";
import { ALLOCATION_STATES, parseStates } from "../parse/states.ts";
import { forEachId } from "./for-each-id.ts";
import { showDetail } from "./status/detail.ts";
import { type ListFlags, showList } from "./status/list.ts";
import { statusColumns } from "./status/table.ts";
import { showTimeline } from "./status/timeline.ts";

const DEFAULT_LIMIT = 50;
const REFRESH_MS = 5_000;

export function define(command: Command): void {
  command
    .argument("[id...]", "allocations to show in detail")
    .option("--state <states>", `only these states (${ALLOCATION_STATES.join(", ")})`, (text) =>
      parseStates(text, ALLOCATION_STATES),
    )
    .option("--all", "allocations of all users that you may see: of the tenant, for its administrators")
    .option("--user <name>", "allocations of this user")
    .option("--tag <pair>", "only those with this tag: key=value, or a key alone (repeatable)", gather)
    .option("--project <name>", "only of this project")
    .option("--name <name>", "only with this name")
    .option("--node <name>", "only on this node")
    .option("--reason <codes>", "only those that wait for this: busy, quota_nodes, dependency and so on", (text) =>
      text.split(",").filter((code) => code !== ""),
    )
    .option("--since <time>", "there from then on: 2026-03-01, or 2h for two hours ago", parseMoment)
    .option("--until <time>", "submitted before then", parseMoment)
    .option("--count", "only how many")
    .option("--limit <count>", "how many to show", (text) => parseCount(text, 1, 100_000), DEFAULT_LIMIT)
    .option("--expand", "the elements of task groups, one by one")
    .option("--watch", "show again every 5 seconds, until Ctrl-C")
    .action(async (ids: readonly string[], flags: ListFlags) => {
      if (flags.all === true && flags.user !== undefined) {
        throw new InvalidArgumentError("--all and --user exclude each other");
      }
      const context = await createContext(command);
      const isFree = command.getOptionValueSource("limit") !== "cli" && !context.print.structured;
      if (flags.watch === true)
        return repeat(context, () => show(context, ids, isFree ? { ...flags, limit: onScreen(flags.limit) } : flags));
      return show(context, ids, flags);
    });
}

/** Beside the rows: the header, what is said below them, and the line of the cursor. */
const OTHER_LINES = 3;

/** As many rows as are seen at once, where they are drawn over each other: the newest come first and would scroll away. */
const onScreen = (limit: number): number =>
  process.stdout.isTTY === true && process.stdout.rows > 0
    ? Math.max(1, Math.min(limit, process.stdout.rows - OTHER_LINES))
    : limit;

const show = (context: Context, ids: readonly string[], flags: ListFlags): Promise<void> =>
  ids.length === 0 || (flags.expand === true && ids.length === 1)
    ? showList(context, flags, ids[0])
    : showNamed(context, ids);

async function showNamed({ client, print, settings }: Context, ids: readonly string[]): Promise<void> {
  const { done: found, finish } = await forEachId(ids, (id) => client.get(id));
  const [first] = found;
  const only = ids.length === 1 ? first : undefined;
  // Asked for by name: the decisions of one allocation, not of a list.
  const timeline = settings.verbose && only !== undefined ? await client.timeline(only.id) : undefined;
  if (print.structured)
    await print.document(only === undefined ? { allocations: found } : { ...only, ...timelineOf(timeline) });
  else if (settings.quiet) {
    print.lines(found.map(({ id }) => id));
  } else if (only !== undefined) {
    showDetail(print, only, Date.now());
    if (timeline !== undefined) showTimeline(print, timeline);
  } else if (found.length > 0) {
    print.table(statusColumns(print.paint, settings.output === "wide", Date.now()), found);
  }
  finish();
}

const timelineOf = (timeline: Timeline | undefined) =>
  timeline === undefined ? {} : { timeline: timeline.entries ?? [] };

/** Redraws in place on a terminal; elsewhere each round follows the last. */
async function repeat({ print }: Context, round: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  const { sleep } = await import("@lattice/sdk");
  while (!stop.signal.aborted) {
    if (process.stdout.isTTY === true) process.stdout.write("\u001b[2J\u001b[H");
    try {
      await round();
    } catch (error) {
      // A server that restarts is back by the next round.
      if (!(error instanceof ProblemError) || !error.problem.retryable) throw error;
      print.note(error.problem.detail);
    }
    await sleep(REFRESH_MS, stop.signal).catch(() => {});
  }
}
