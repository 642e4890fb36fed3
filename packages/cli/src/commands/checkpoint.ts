// `lattice checkpoint ID`: requests checkpoints of running allocations; --wait reports the outcome.

import type { CheckpointStatus } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import type { Command } from "commander";
import { type Context, createContext } from "../context.ts";
import { workToChange } from "../names/work-ids.ts";
import { forEachId } from "../output/for-each-id.ts";
import { withSpinner } from "../output/progress.ts";

const POLL_MS = 200;

export function define(command: Command): void {
  command
    .argument("<id...>", "running allocations, or task groups")
    .option("--wait", "wait until the checkpoint is complete or has failed")
    .action(async (ids: readonly string[], flags: { readonly wait?: boolean }) => {
      const context = await createContext(command);
      const { done, finish } = await forEachId(ids, async (word) =>
        requestCheckpoint(context, await workToChange(context, word), flags.wait === true),
      );
      if (context.print.structured) await context.print.document(done.length === 1 ? done[0] : { checkpoints: done });
      finish();
    });
}

async function waitForGroup(client: Context["client"], group: string): Promise<void> {
  for (;;) {
    const { total = 0 } = await client.list({ group_id: group, expand: true, state: ["checkpointing"], page_size: 1 });
    if (total === 0) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function waitForCheckpoint(
  client: Context["client"],
  id: string,
  asked: CheckpointStatus,
): Promise<CheckpointStatus> {
  let status = asked;
  while (status.current !== undefined && status.current.number === asked.current?.number) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    status = await client.getCheckpoint(id);
  }
  return status;
}

async function requestCheckpoint(context: Context, id: string, wait: boolean): Promise<CheckpointStatus> {
  const { client, print } = context;
  const { randomUUID } = await import("node:crypto");
  const asked = await client.checkpoint(id, { requestId: randomUUID() });
  const number = asked.current?.number ?? asked.requested ?? 0;
  const say = (text: string): void => {
    if (!print.structured) print.done(id, text);
  };
  // A task group has one checkpoint per element, each with its own number.
  if (number === 0) {
    say(`Requested checkpoints of the running elements of task group ${id}`);
    if (wait) await withSpinner(context, `Checkpoints of task group ${id}`, () => waitForGroup(client, id));
    return asked;
  }
  if (!wait) {
    say(`Requested checkpoint ${number} of allocation ${id}`);
    return asked;
  }
  const status = await withSpinner(context, `Checkpoint ${number} of allocation ${id}`, () =>
    waitForCheckpoint(client, id, asked),
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
