// Moves archived records from the replica into the history. Every replica does this for itself; a replay after a
// crash repeats records, which the history stores once.

import { type Allocation, type Applied, type LogIndex, logIndex } from "@lattice/core";
import type { Logger } from "pino";
import type { History } from "./index.ts";

export function archiveTo(history: History, logger: Logger): (applied: Applied) => void {
  return (applied) => {
    const records = archived(applied);
    // The first entry shows where the state started: with everything archived before it.
    history.begin(logIndex(applied.index - 1));
    if (records.length > 0) {
      history.append(records).catch((error: unknown) => logger.error({ err: error }, "history not written"));
    }
    history.applied(applied.index);
  };
}

function archived(applied: Applied): { readonly index: LogIndex; readonly record: Allocation }[] {
  const records = [];
  for (const effect of applied.effects) {
    if (effect.kind === "archive") records.push({ index: applied.index, record: effect.record });
  }
  return records;
}
