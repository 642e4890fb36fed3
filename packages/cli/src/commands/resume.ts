// `lattice resume ID`: requeues allocations that were suspended at the end of their walltime.

import type { Command } from "commander";
import { createContext } from "../context.ts";
import { workToChange } from "../names/work-ids.ts";
import { forEachId } from "../output/for-each-id.ts";

export function define(command: Command): void {
  command
    .argument("<id...>", "suspended allocations, or task groups with suspended elements")
    .action(async (ids: readonly string[]) => {
      const context = await createContext(command);
      const { client, print } = context;
      const { randomUUID } = await import("node:crypto");
      const { done: resumed, finish } = await forEachId(ids, async (word) => {
        const id = await workToChange(context, word);
        const answer = await client.resume(id, { requestId: randomUUID() });
        if (!print.structured) print.done(id, `Resumed allocation ${id}`);
        return answer;
      });
      if (print.structured) await print.document({ resumed });
      finish();
    });
}
