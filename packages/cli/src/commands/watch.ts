// `lattice watch ID`: an allocation's state changes as they happen, until it has ended. Begins with
// its present state. With -o json each change is one line.

import type { Allocation, WatchEvent } from "@lattice/sdk";
import type { Command } from "commander";
import { type Context, createContext } from "../context.ts";
import { paintState } from "../output/paint.ts";
import { ABSENT, capitalise, clean } from "../output/text.ts";
import { localTime } from "../output/time.ts";
import { hasEnded, untilFinal } from "../wait/until-final.ts";
import { reasonOf } from "./status/table.ts";

export function define(command: Command): void {
  command.argument("<id>", "allocation").action(async (id: string) => {
    const context = await createContext(command);
    const present = await context.client.get(id);
    await showState(context, present);
    if (hasEnded(present)) return;
    let seen: string = present.state;
    const final = await untilFinal(context.client, id, {
      kinds: ["allocation_changed", "placement_refused"],
      onEvent: (event) => {
        if (event.kind === "allocation_changed" && event.to !== undefined) seen = event.to;
        return showEvent(context, event);
      },
    });
    // The end may have come while no events did.
    if (seen !== final.state) await showState(context, final);
  });
}

async function showState({ print }: Context, allocation: Allocation): Promise<void> {
  if (print.structured) return print.streamed(allocation);
  const { state, nodes = [] } = allocation;
  const why = reasonOf(allocation);
  const parts = [
    // An end is shown when it came, however much later it is looked at.
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
