// `lattice watch ID`: follows the state changes, metrics and alerts of an allocation until it has ended, starting with
// its current state. With -o json each is one line.

import type { Allocation, WatchEvent } from "@lattice/sdk";
import type { Command } from "commander";
import { type Context, createContext } from "../context.ts";
import { workToRead } from "../names/work-ids.ts";
import { paintState } from "../output/paint.ts";
import { ABSENT, capitalise, clean } from "../output/text.ts";
import { localTime } from "../output/time.ts";
import { hasEnded, waitUntilEnded } from "../wait/until-ended.ts";
import { reasonOf } from "./status/table.ts";
import { followMetrics } from "./top/follow.ts";

interface WatchFlags {
  readonly metrics?: readonly string[];
  readonly alertsOnly?: boolean;
}

export function define(command: Command): void {
  command
    .argument("<id>", "allocation: its id, its name, or last")
    .option("--metrics <names>", "metrics, separated by commas", (text) => text.split(","))
    .option("--alerts-only", "only metrics that cross a threshold")
    .action(async (word: string, flags: WatchFlags) => {
      const context = await createContext(command);
      await watch(context, await workToRead(context, word), flags);
    });
}

async function watch(context: Context, id: string, flags: WatchFlags): Promise<void> {
  const present = await context.client.get(id);
  await showState(context, present);
  if (hasEnded(present)) return;
  const stop = new AbortController();
  const metrics = followUntilStopped(context, id, flags, stop.signal);
  try {
    let seen: string = present.state;
    const final = await waitUntilEnded(context.client, id, {
      kinds: ["allocation_changed", "placement_refused"],
      onEvent: (event) => {
        if (event.kind === "allocation_changed" && event.to !== undefined) seen = event.to;
        return showEvent(context, event);
      },
    });
    // The last change may have happened in a gap of the event stream.
    if (seen !== final.state) await showState(context, final);
  } finally {
    stop.abort();
    await metrics;
  }
}

/** A failure of the metrics stream is a note, because state changes are still worth watching. */
async function followUntilStopped(context: Context, id: string, flags: WatchFlags, signal: AbortSignal): Promise<void> {
  const { metrics = [], alertsOnly = false } = flags;
  try {
    await followMetrics(context, id, { metrics, alertsOnly, signal });
  } catch (error) {
    if (!signal.aborted) context.print.note(error instanceof Error ? error.message : String(error));
  }
}

async function showState({ print }: Context, allocation: Allocation): Promise<void> {
  if (print.structured) return print.streamed(allocation);
  const { state, nodes = [] } = allocation;
  const why = reasonOf(allocation);
  const parts = [
    // An ended allocation shows the time of its end, not of the query.
    localTime((hasEnded(allocation) ? allocation.ended_at : undefined) ?? new Date().toISOString()),
    paintState(print.paint, state, capitalise(state)),
    nodes.length === 0 ? "" : `on ${nodes.join(", ")}`,
    why === ABSENT ? "" : clean(why),
  ];
  print.line(parts.filter((part) => part !== "").join("  "));
}

async function showEvent({ print }: Context, event: WatchEvent): Promise<void> {
  if (print.structured) return print.streamed(event);
  const to = event.to ?? "";
  const parts = [
    localTime(event.at),
    to === "" ? event.kind.replaceAll("_", " ") : paintState(print.paint, to, capitalise(to)),
    event.node ? `on ${event.node}` : "",
    clean(event.reason ?? ""),
    clean(event.message ?? ""),
  ];
  print.line(parts.filter((part) => part !== "").join("  "));
}
