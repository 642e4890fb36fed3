// cluster.restore_history: passes finished records of a backup to the history of every server.

import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuse } from "../../base/outcome.ts";

import type { Allocation } from "../../model/allocation/allocation.ts";
import { isFinal } from "../../model/allocation/phase.ts";
import { discardStaging, noSuchRestore, stagedRestore } from "../../transitions/cluster/staging.ts";
import type { Step } from "../../transitions/step.ts";

/** Finished records of the backup, for the history of every server. */
export interface RestoreHistoryCommand {
  readonly kind: "cluster.restore_history";
  readonly restore: string;
  readonly records: readonly Allocation[];
  readonly last: boolean;
}

export function restoreHistory(step: Step, { restore, records, last }: RestoreHistoryCommand): Outcome {
  const { state } = step;
  const staged = stagedRestore(state);
  if (staged?.restore !== restore || !staged.committed) return noSuchRestore(restore);
  const odd = records.find((record) => !isFinal(record.phase));
  if (odd !== undefined) return refuse("invalid_argument", `allocation ${odd.id} has not ended`);
  for (const record of records) {
    // Records in the live state move to the history when they expire.
    if (state.allocation(record.id) === undefined) step.effects.push({ kind: "archive", record });
  }
  if (last) discardStaging(state);
  return accepted(restore);
}
