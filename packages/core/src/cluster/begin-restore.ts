// Begins a restore, and takes the pieces of its snapshot. Nothing of the state proper changes here: a
// restore that stops halfway leaves the cluster as it was, and the next one throws its pieces away.

import type { BeginRestoreCommand, RestoreTextCommand } from "../command.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, refuseFields, type Step, unchanged } from "../step.ts";
import { ownThings } from "./emptiness.ts";
import {
  discardStaging,
  MAX_PIECE_LENGTH,
  MAX_RESTORE_NAME_LENGTH,
  MAX_STAGED_LENGTH,
  stagedRestore,
} from "./staging.ts";

export function beginClusterRestore(step: Step, { restore }: BeginRestoreCommand): Outcome {
  const { state } = step;
  if (restore.length === 0 || restore.length > MAX_RESTORE_NAME_LENGTH) {
    return refuseFields([{ field: "restore", detail: `must have 1 to ${MAX_RESTORE_NAME_LENGTH} characters` }]);
  }
  const staged = stagedRestore(state);
  // Its state is in place; whoever asks again goes on with the history.
  if (staged?.committed === true && staged.restore === restore) return unchanged(restore);
  const own = ownThings(state);
  if (own !== null) return refuse("cluster_not_empty", `a backup goes into a cluster that is empty, but ${own}`);

  discardStaging(state);
  state.tables.staging.set("0", { n: 0, restore, committed: false, text: "" });
  return accepted(restore);
}

export function stageText(step: Step, { restore, n, text }: RestoreTextCommand): Outcome {
  const { staging } = step.state.tables;
  const staged = stagedRestore(step.state);
  if (staged?.restore !== restore || staged.committed) return noSuchRestore(restore);
  if (staging.get(String(n))?.text === text && n > 0) return unchanged(restore);
  if (n !== staging.size) return refuse("illegal_transition", `piece ${n} where ${staging.size} is next`);
  const most = Math.floor(MAX_STAGED_LENGTH / MAX_PIECE_LENGTH);
  if (text.length > MAX_PIECE_LENGTH || n > most) {
    return refuseFields([{ field: "text", detail: `at most ${most} pieces of ${MAX_PIECE_LENGTH} characters` }]);
  }
  staging.set(String(n), { n, restore, committed: false, text });
  return accepted(restore);
}

export const noSuchRestore = (restore: string): Outcome =>
  refuse("illegal_transition", `the restore ${quote(restore)} is not under way; another may have begun`);
