// `lattice why ID`: explains why an allocation is pending and what would start it sooner, or where and when it started.

import type { Command } from "commander";
import { createContext } from "../context.ts";
import { checkpointLines } from "./why/checkpoint.ts";
import { whyLines } from "./why/report.ts";

export function define(command: Command): void {
  command.argument("<id>", "allocation").option("--checkpoint", "explain the checkpoint broker's decision");
  command.action(async (id: string, flags: { readonly checkpoint?: boolean }) => {
    const { client, print, settings } = await createContext(command);
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
