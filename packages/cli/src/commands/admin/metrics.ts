// `lattice admin metrics dump`: the metrics of a server as JSON: current values and, with `--duration`, their history.
// A note on stderr says when the server's history is shorter than requested.

import type { Command } from "commander";
import { Option } from "commander";
import { createContext } from "../../context.ts";
import { parseDuration } from "../../parse/duration.ts";

const COMPONENTS = ["scheduler", "api", "raft", "nodes", "allocations", "process"];

interface DumpFlags {
  readonly component?: string;
  readonly duration?: number;
}

export function defineMetrics(command: Command): void {
  const dump = command.command("dump").description("Print all metrics of the server as JSON");
  dump
    .addOption(new Option("--component <name>", "only this component").choices(COMPONENTS))
    .option("--duration <time>", "length of the history (default: current values only)", parseDuration)
    .action(async ({ component, duration }: DumpFlags) => {
      const { client, print } = await createContext(dump);
      const found = await client.serverMetrics({ component, duration_seconds: duration });
      const requested = Date.parse(found.at ?? "") - (duration ?? 0) * 1000;
      if (duration !== undefined && Date.parse(found.since ?? "") > requested)
        print.note(`${found.server} keeps metrics only since ${found.since}.`);
      await print.document(found);
    });
}
