// `lattice why ID`: why an allocation waits and what would start it sooner, or why it started where and when it did.

import type { Command } from "commander";
import { createContext } from "../context.ts";
import { checkpointLines } from "./why/checkpoint.ts";
import { whyLines } from "./why/report.ts";

export function define(command: Command): void {
  command.argument("<id>", "allocation").option("--checkpoint", "why it is, or is not, asked for a checkpoint");
  command.action(async (id: string, flags: { readonly checkpoint?: boolean }) => {
    const { client, print, settings } = await createContext(command);
    if (flags.checkpoint === true) {
      const status = await client.getCheckpoint(id);
      return print.structured ? print.document(status) : print.lines(checkpointLines(status));
    }
    const told = await client.explain(id);
    if (print.structured) return print.document(told);
    if (settings.quiet) return print.line(told.summary);
    print.lines(whyLines(told, print.paint));
  });
}
