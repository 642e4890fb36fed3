// `lattice why ID`: why an allocation waits and what would start it sooner, or why it started where and when it did.

import type { Command } from "commander";
import { createContext } from "../context.ts";
import { whyLines } from "./why/report.ts";

export function define(command: Command): void {
  command.argument("<id>", "allocation").action(async (id: string) => {
    const { client, print, settings } = await createContext(command);
    const told = await client.explain(id);
    if (print.structured) return print.document(told);
    if (settings.quiet) return print.line(told.summary);
    print.lines(whyLines(told, print.paint));
  });
}
