// `lattice telemetry`: changes the telemetry mode of an allocation, permanently or for a time.

import { randomUUID } from "node:crypto";
import { type Command, Option } from "commander";
import { createContext } from "../context.ts";
import { workToChange } from "../names/work-ids.ts";
import { localTime } from "../output/time.ts";
import { parseDuration } from "../parse/duration.ts";
import { requireName } from "../parse/name.ts";

const MODES = ["prod", "debug", "audit"] as const;

interface TelemetryFlags {
  readonly alloc?: string;
  readonly mode: (typeof MODES)[number];
  readonly duration?: number;
}

export function define(command: Command): void {
  command
    .argument("[id]", "allocation")
    .option("--alloc <id>", "allocation")
    .addOption(new Option("--mode <mode>", "telemetry mode").choices(MODES).makeOptionMandatory())
    .option("--duration <time>", "return to prod after this time, for example 30m", parseDuration)
    .action(async (word: string | undefined, flags: TelemetryFlags) => {
      const context = await createContext(command);
      const { client, print } = context;
      const id = await workToChange(context, requireName("allocation", word, flags.alloc));
      const changes = {
        telemetry_mode: flags.mode,
        ...(flags.duration === undefined ? {} : { telemetry_seconds: flags.duration }),
      };
      const { allocation } = await client.update(id, changes, { requestId: randomUUID() });
      if (print.structured) return print.document(allocation);
      const { mode = "prod", until } = allocation.spec?.telemetry ?? {};
      print.done(
        id,
        `Telemetry mode of allocation ${id} is ${mode}${until === undefined ? "" : ` until ${localTime(until)}`}`,
      );
    });
}
