// `lattice status`: lists the user's allocations, newest first, or shows named ones in detail.

import type { Timeline } from "@lattice/sdk";
import { type Command, InvalidArgumentError } from "commander";
import { type Context, createContext } from "../context.ts";
import { forEachId } from "../output/for-each-id.ts";
import type { Printer } from "../output/printer.ts";
import { clean } from "../output/text.ts";
import { localTime } from "../output/time.ts";
import { collect } from "../parse/collect.ts";
import { parseCount } from "../parse/count.ts";
import { ALLOCATION_STATES, parseStates } from "../parse/states.ts";
import { parseTimestamp } from "../parse/timestamp.ts";
import { type ListFlags, showList } from "./status/list.ts";
import { statusColumns } from "./status/table.ts";

const DEFAULT_LIMIT = 50;

export function define(command: Command): void {
  command
    .argument("[id...]", "work to show in detail: ids, names or last")
    .option("--state <states>", `only these states (${ALLOCATION_STATES.join(", ")})`, (text) =>
      parseStates(text, ALLOCATION_STATES),
    )
    .option("--all", "allocations of all users visible to you: tenant administrators see their tenant")
    .option("--user <name>", "allocations of this user")
    .option("--tag <pair>", "only with this tag: key=value or key (repeatable)", collect)
    .option("--project <name>", "only this project")
    .option("--name <name>", "only this name")
    .option("--node <name>", "only this node")
    .option("--reason <codes>", "only this pending reason, for example busy, quota_nodes or dependency", (text) =>
      text.split(",").filter((code) => code !== ""),
    )
    .option("--since <time>", "active since then: 2026-03-01, or 2h for two hours ago", parseTimestamp)
    .option("--until <time>", "submitted before then", parseTimestamp)
    .option("--count", "print only the number")
    .option("--limit <count>", "maximum number of allocations", (text) => parseCount(text, 1, 100_000), DEFAULT_LIMIT)
    .option("--expand", "list the elements of task groups")
    .option("--watch", "repeat every 5 seconds until Ctrl-C")
    .action(async (ids: readonly string[], flags: ListFlags) => {
      if (flags.all === true && flags.user !== undefined) {
        throw new InvalidArgumentError("--all cannot be combined with --user");
      }
      const context = await createContext(command);
      const isFree = command.getOptionValueSource("limit") !== "cli" && !context.print.structured;
      if (flags.watch === true)
        return (await import("../output/repeat.ts")).repeatOnScreen(context.print, () =>
          show(context, ids, isFree ? { ...flags, limit: onScreen(flags.limit) } : flags),
        );
      return show(context, ids, flags);
    });
}

/** Lines besides the rows: header, note and cursor. */
const OTHER_LINES = 3;

/** Limits --watch to one screen: the newest rows come first and would scroll away. */
const onScreen = (limit: number): number =>
  process.stdout.isTTY === true && process.stdout.rows > 0
    ? Math.max(1, Math.min(limit, process.stdout.rows - OTHER_LINES))
    : limit;

async function show(context: Context, words: readonly string[], flags: ListFlags): Promise<void> {
  const [word] = words;
  if (word === undefined) return showList(context, flags);
  if (words.length > 1) return showNamed(context, words);
  const { isDagId, workToRead } = await import("../names/work-ids.ts");
  const id = await workToRead(context, word);
  if (isDagId(id)) return (await import("./dag/show.ts")).showDag(context, await context.client.dags.get(id));
  return flags.expand === true ? showList(context, flags, id) : showNamed(context, [id]);
}

async function showNamed(context: Context, ids: readonly string[]): Promise<void> {
  const { client, print, settings } = context;
  const { workToRead } = await import("../names/work-ids.ts");
  const { done: found, finish } = await forEachId(ids, async (word) => client.get(await workToRead(context, word)));
  const [first] = found;
  const only = ids.length === 1 ? first : undefined;
  // The timeline is shown for a single allocation only.
  const timeline = settings.verbose && only !== undefined ? await client.timeline(only.id) : undefined;
  if (print.structured)
    await print.document(only === undefined ? { allocations: found } : { ...only, ...timelineOf(timeline) });
  else if (settings.quiet) {
    print.lines(found.map(({ id }) => id));
  } else if (only !== undefined) {
    (await import("./status/detail.ts")).showDetail(print, only, Date.now());
    if (timeline !== undefined) showTimeline(print, timeline);
  } else if (found.length > 0) {
    print.table(statusColumns(print.paint, settings.output === "wide", Date.now()), found);
  }
  finish();
}

const timelineOf = (timeline: Timeline | undefined) =>
  timeline === undefined ? {} : { timeline: timeline.entries ?? [] };

function showTimeline(print: Printer, { entries = [], omitted = 0 }: Timeline): void {
  print.line("");
  print.line(print.paint("bold", "Timeline"));
  if (omitted > 0) print.line(`  ${omitted} earlier entries are no longer stored.`);
  for (const { at, text, attempt = 0, nodes = [] } of entries) {
    const which = attempt > 1 ? ` [attempt ${attempt}]` : "";
    const where =
      nodes.length === 0
        ? ""
        : ` (${nodes.slice(0, MAX_NAMED_NODES).map(clean).join(", ")}${nodes.length > MAX_NAMED_NODES ? ", …" : ""})`;
    print.line(`  ${localTime(at)}  ${clean(text)}${where}${which}`);
  }
}

const MAX_NAMED_NODES = 4;
