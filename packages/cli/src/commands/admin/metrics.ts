// `lattice admin metrics dump`: what a server counts, as JSON for a report. The figures are those of now: counters
// since the server started, and gauges. There is no store to go back in time with; that is said when it is asked for.

import type { Command } from "commander";
import { Option } from "commander";
import { createContext } from "../../context.ts";
import { parseSpan } from "../../parse/span.ts";
import { parseMetrics, type Sample } from "./prometheus.ts";

const COMPONENTS = {
  scheduler: /^lattice_(scheduling|scheduler|estimate|borrow|preempt)/,
  api: /^lattice_(api|terminals|launch)/,
  raft: /^lattice_(raft|log|leader|membership|backup|history)/,
  nodes: /^lattice_(node|agent|output|image)/,
  allocations: /^lattice_(allocations|dags|blocked|waiting|events)/,
  process: /^(process|nodejs)_/,
} as const;

interface DumpFlags {
  readonly component?: keyof typeof COMPONENTS;
  readonly duration?: number;
}

export function defineMetrics(command: Command): void {
  const dump = command.command("dump").description("Everything that the server counts, as JSON");
  dump
    .addOption(new Option("--component <name>", "only of this part").choices(Object.keys(COMPONENTS)))
    .option("--duration <time>", "how far back; only the present is known", parseSpan)
    .action(async (flags: DumpFlags) => {
      const { client, print } = await createContext(dump);
      const text = await client.metricsText();
      if (flags.duration !== undefined) {
        print.note("Counters are those since the server started; there is no time-series store to go back with.");
      }
      const wanted = flags.component === undefined ? null : COMPONENTS[flags.component];
      const samples = parseMetrics(text).filter(({ name }) => wanted === null || wanted.test(name));
      const dumped = { at: new Date().toISOString(), server: client.url, started_at: startOf(text), samples };
      await print.document(flags.component === undefined ? dumped : { component: flags.component, ...dumped });
    });
}

function startOf(text: string): string | undefined {
  const start = parseMetrics(text).find(({ name }: Sample) => name === "process_start_time_seconds")?.value;
  return typeof start === "number" ? new Date(start * 1000).toISOString() : undefined;
}
