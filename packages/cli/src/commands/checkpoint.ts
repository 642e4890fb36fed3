// `lattice checkpoint ID`: asks running allocations for a checkpoint, and with --wait for what came of it.

import type { CheckpointStatus } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import type { Command } from "commander";
import { type Context, createContext } from "../context.ts";
import { whileShown } from "../output/progress.ts";
import { forEachId } from "./for-each-id.ts";

const LOOK_EVERY_MS = 200;

export function define(command: Command): void {
  command
    .argument("<id...>", "running allocations, or task groups")
    .option("--wait", "until it is complete, or could not be had")
    .action(async (ids: readonly string[], flags: { readonly wait?: boolean }) => {
      const context = await createContext(command);
      const { done, finish } = await forEachId(ids, (id) => take(context, id, flags.wait === true));
      if (context.print.structured) await context.print.document(done.length === 1 ? done[0] : { checkpoints: done });
      finish();
    });
}

async function untilNoneIsTaken(client: Context["client"], group: string): Promise<void> {
  for (;;) {
    const { total = 0 } = await client.list({ group_id: group, expand: true, state: ["checkpointing"], page_size: 1 });
    if (total === 0) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

async function untilTaken(client: Context["client"], id: string, asked: CheckpointStatus): Promise<CheckpointStatus> {
  let status = asked;
  while (status.current !== undefined && status.current.number === asked.current?.number) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    status = await client.getCheckpoint(id);
  }
  return status;
}

async function take(context: Context, id: string, wait: boolean): Promise<CheckpointStatus> {
  const { client, print } = context;
  const { randomUUID } = await import("node:crypto");
  const asked = await client.checkpoint(id, { requestId: randomUUID() });
  const number = asked.current?.number ?? asked.asked ?? 0;
  const say = (text: string): void => {
    if (!print.structured) print.done(id, text);
  };
  // Of a task group: there are many, each with a number of its own.
  if (number === 0) {
    say(`Asked the running elements of task group ${id} for checkpoints`);
    if (wait) await whileShown(context, `Checkpoints of task group ${id}`, () => untilNoneIsTaken(client, id));
    return asked;
  }
  if (!wait) {
    say(`Asked allocation ${id} for checkpoint ${number}`);
    return asked;
  }
  const status = await whileShown(context, `Checkpoint ${number} of allocation ${id}`, () =>
    untilTaken(client, id, asked),
  );
  if (status.last?.number === number) {
    say(`Checkpoint ${number} of allocation ${id} is complete`);
    return status;
  }
  const why = status.failure?.number === number ? (status.failure.message ?? "") : "the attempt ended first";
  throw new ProblemError("illegal_transition", {
    detail: `checkpoint ${number} of allocation ${id} failed: ${why}`,
    hint: `See: lattice status ${id}`,
  });
}
