// cluster.restore_text: stages the next piece of a snapshot text.

import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuse, refuseFields, unchanged } from "../../base/outcome.ts";

import {
  MAX_PIECE_LENGTH,
  MAX_STAGED_LENGTH,
  noSuchRestore,
  stagedRestore,
} from "../../transitions/cluster/staging.ts";
import type { Step } from "../../transitions/step.ts";

/** The next piece of the snapshot's text; the first has n 1. */
export interface RestoreTextCommand {
  readonly kind: "cluster.restore_text";
  readonly restore: string;
  readonly n: number;
  readonly text: string;
}

export function stageRestoreText(step: Step, { restore, n, text }: RestoreTextCommand): Outcome {
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
