// cluster.restore_begin: starts a restore. The state itself does not change: a restore that stops halfway leaves the
// cluster as it was, and the next one discards the pieces.

import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuse, refuseFields, unchanged } from "../../base/outcome.ts";

import type { Origin } from "../../model/origin.ts";
import { clusterContent } from "../../queries/cluster-content.ts";
import { discardStaging, MAX_RESTORE_NAME_LENGTH, stagedRestore } from "../../transitions/cluster/staging.ts";
import type { Step } from "../../transitions/step.ts";

/** Starts the restore of a backup into this cluster, which must be empty. `restore` names the backup. */
export interface BeginRestoreCommand {
  readonly kind: "cluster.restore_begin";
  readonly origin: Origin;
  readonly restore: string;
}

export function startRestore(step: Step, { restore }: BeginRestoreCommand): Outcome {
  const { state } = step;
  if (restore.length === 0 || restore.length > MAX_RESTORE_NAME_LENGTH) {
    return refuseFields([{ field: "restore", detail: `must have 1 to ${MAX_RESTORE_NAME_LENGTH} characters` }]);
  }
  const staged = stagedRestore(state);
  // The state is already restored; a repeated request continues with the history.
  if (staged?.committed === true && staged.restore === restore) return unchanged(restore);
  const own = clusterContent(state);
  if (own !== null) return refuse("cluster_not_empty", `a backup goes into a cluster that is empty, but ${own}`);

  discardStaging(state);
  state.tables.staging.set("0", { n: 0, restore, committed: false, text: "" });
  return accepted(restore);
}
