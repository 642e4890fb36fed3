// `lattice admin metrics dump`: what a server counts, as JSON for a report: the values of now, and with `--duration` how
// they came about, as far as the server remembers. What reaches further back than that is said on stderr.

import type { Command } from "commander";
import { Option } from "commander";
import { createContext } from "../../context.ts";
import { parseSpan } from "../../parse/span.ts";

const COMPONENTS = ["scheduler", "api", "raft", "nodes", "allocations", "process"];

interface DumpFlags {
  readonly component?: string;
  readonly duration?: number;
}

export function defineMetrics(command: Command): void {
  const dump = command.command("dump").description("Everything that the server counts, as JSON");
  dump
    .addOption(new Option("--component <name>", "only of this part").choices(COMPONENTS))
    .option("--duration <time>", "how far back; without it, the values of now", parseSpan)
    .action(async ({ component, duration }: DumpFlags) => {
      const { client, print } = await createContext(dump);
      const found = await client.serverMetrics({ component, duration_seconds: duration });
      const asked = Date.parse(found.at ?? "") - (duration ?? 0) * 1000;
      if (duration !== undefined && Date.parse(found.since ?? "") > asked)
        print.note(`${found.server} remembers what it counted since ${found.since}.`);
      await print.document(found);
    });
}
