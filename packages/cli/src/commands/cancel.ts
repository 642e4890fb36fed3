// `lattice cancel`: cancels allocations by id, or all of the user's own, optionally in some states.

import type { AllocationState } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import type { Command } from "commander";
import { type Context, createContext } from "../context.ts";
import { isDagId, workToChange } from "../names/work-ids.ts";
import { confirmOnTerminal } from "../output/confirm.ts";
import { forEachId } from "../output/for-each-id.ts";
import { ALLOCATION_STATES, parseStates } from "../parse/states.ts";

interface CancelFlags {
  readonly state?: readonly AllocationState[];
  readonly allMine?: boolean;
  readonly reason?: string;
  readonly yes?: boolean;
}

/** States that can be cancelled. */
const LIVE: readonly AllocationState[] = ["pending", "staging", "running", "checkpointing", "suspended"];

export function define(command: Command): void {
  command
    .argument("[id...]", "work to cancel: ids, names or last")
    .option("--all-mine", "all of your allocations that have not ended")
    .option("--state <states>", "with --all-mine: only these states", (text) => parseStates(text, ALLOCATION_STATES))
    .option("--reason <text>", "reason, recorded with the allocation")
    .option("--yes", "do not ask for confirmation")
    .action(async (ids: readonly string[], flags: CancelFlags) => {
      const context = await createContext(command);
      const chosen = await chooseIds(context, ids, flags);
      if (ids.length === 0 && chosen.length > 1) {
        const those = `${chosen.length} allocations`;
        await confirmOnTerminal(flags.yes, `Cancel ${those}?`, `${those} not cancelled`);
      }
      await cancelAll(context, chosen, flags.reason);
    });
}

async function chooseIds({ client, settings }: Context, ids: readonly string[], flags: CancelFlags) {
  if (ids.length > 0) {
    if (flags.allMine === true || flags.state !== undefined) {
      throw new ProblemError("invalid_argument", {
        detail: "ids cannot be combined with --all-mine or --state",
        hint: "Name the allocations, or choose them with --all-mine --state=pending.",
      });
    }
    return ids;
  }
  if (flags.allMine !== true) {
    throw new ProblemError("invalid_argument", {
      detail: "no allocation is named",
      hint: "Run: lattice cancel ID, or: lattice cancel --state=pending --all-mine",
    });
  }
  const chosen: string[] = [];
  for await (const { id } of client.listAll({ user: settings.user, state: flags.state ?? LIVE })) chosen.push(id);
  return chosen;
}

async function cancelAll(context: Context, ids: readonly string[], reason: string | undefined) {
  const { client, print } = context;
  const { done: cancelled, finish } = await forEachId(ids, async (word) => {
    const id = await workToChange(context, word);
    const isDag = isDagId(id);
    const answer = await (isDag ? client.dags.cancel(id, { reason }) : client.cancel(id, { reason }));
    if (!print.structured) print.done(id, `Cancelled ${isDag ? "DAG" : "allocation"} ${id}`);
    return answer;
  });
  if (print.structured) await print.document({ cancelled });
  if (ids.length === 0) print.note("Nothing to cancel.");
  finish();
}
