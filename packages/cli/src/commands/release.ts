// `lattice release ID`: returns held allocations to the queue.

import type { Command } from "commander";
import { createContext } from "../context.ts";
import { workToChange } from "../names/work-ids.ts";
import { forEachId } from "../output/for-each-id.ts";

export function define(command: Command): void {
  command.argument("<id...>", "held allocations").action(async (ids: readonly string[]) => {
    const context = await createContext(command);
    const { client, print, settings } = context;
    const { done: released, finish } = await forEachId(ids, async (word) => {
      const id = await workToChange(context, word);
      const { allocation } = await client.release(id);
      if (!print.structured) print.line(settings.quiet ? id : `Released allocation ${id}`);
      return allocation;
    });
    if (print.structured) await print.document({ released });
    finish();
  });
}
