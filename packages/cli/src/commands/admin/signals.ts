// `lattice admin signals`: shows or sets the external signals of the scheduler: prices, power, storage, congestion.

import type { Signals } from "@lattice/sdk";
import type { Command } from "commander";
import { createContext } from "../../context.ts";
import { localTime } from "../../output/time.ts";
import { parseCount } from "../../parse/count.ts";
import { fromDocument } from "../submit/source.ts";
import { showFields } from "./fields.ts";

interface SignalFlags {
  readonly file?: string;
  readonly valid?: number;
}

/** The server's limit. */
const MAX_SECONDS = 7 * 86_400;

export function defineSignals(command: Command): void {
  command
    .option("--file <file>", "set signals from a YAML or JSON document (- reads standard input)")
    .option("--valid <seconds>", "validity of the signals", (text) => parseCount(text, 1, MAX_SECONDS))
    .action(async (flags: SignalFlags) => {
      const { client, print } = await createContext(command);
      const signals =
        flags.file === undefined
          ? await client.signals.get()
          : await client.signals.set((await fromDocument(flags.file)) as Signals, { valid_seconds: flags.valid });
      if (print.structured) return print.document(signals);
      if (signals.valid_until === undefined) return print.line("No signals are set.");
      showFields(print, [
        ["Energy price", signals.energy_price],
        ["Power", budget(signals.power, "W")],
        ["Storage", budget(signals.storage, "MB/s")],
        ["Congestion", counted(signals.congestion, "groups")],
        ["Efficiency", counted(signals.efficiency, "allocations")],
        ["Data ready", counted(signals.data_ready, "allocations")],
        ["Checkpoint minutes", counted(signals.checkpoint_minutes, "allocations")],
        ["Valid until", localTime(signals.valid_until)],
      ]);
    });
}

const budget = (value: Signals["power"], unit: string): string | undefined =>
  value === undefined ? undefined : `${value.used} of ${value.limit} ${unit}`;

const counted = (values: Readonly<Record<string, number>> = {}, what: string): string | undefined => {
  const count = Object.keys(values).length;
  return count === 0 ? undefined : `of ${count} ${what}`;
};
