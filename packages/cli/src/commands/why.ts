// `lattice why ID`: explains why an allocation is pending and what would start it sooner, or where and when it started.

import type { Command } from "commander";
import { createContext } from "../context.ts";
import { workToRead } from "../names/work-ids.ts";
import { checkpointLines } from "./why/checkpoint.ts";
import { whyLines } from "./why/report.ts";

export function define(command: Command): void {
  command
    .argument("<id>", "allocation: its id, its name, or last")
    .option("--checkpoint", "explain the checkpoint broker's decision");
  command.action(async (word: string, flags: { readonly checkpoint?: boolean }) => {
    const context = await createContext(command);
    const { client, print, settings } = context;
    const id = await workToRead(context, word);
    if (flags.checkpoint === true) {
      const status = await client.getCheckpoint(id);
      return print.structured ? print.document(status) : print.lines(checkpointLines(status));
    }
    const explanation = await client.explain(id);
    if (print.structured) return print.document(explanation);
    if (settings.quiet) return print.line(explanation.summary);
    print.lines(whyLines(explanation, print.paint));
  });
}
