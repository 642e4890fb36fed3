// `lattice hold ID`: holds pending allocations until `lattice release`.

import type { Command } from "commander";
import { createContext } from "../context.ts";
import { workToChange } from "../names/work-ids.ts";
import { forEachId } from "../output/for-each-id.ts";

export function define(command: Command): void {
  command
    .argument("<id...>", "pending allocations, task groups, or elements such as 12_3 or 12_[3-9]")
    .action(async (ids: readonly string[]) => {
      const context = await createContext(command);
      const { client, print, settings } = context;
      const { done: held, finish } = await forEachId(ids, async (word) => {
        const id = await workToChange(context, word);
        const { allocation } = await client.hold(id);
        if (!print.structured) print.line(settings.quiet ? id : `Held allocation ${id}`);
        return allocation;
      });
      if (print.structured) await print.document({ held });
      finish();
    });
}
