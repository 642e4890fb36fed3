// retention.set: how many finished records stay in the live state, and for how long.

import type { Duration } from "../../base/ids.ts";
import type { FieldProblem, Outcome } from "../../base/outcome.ts";
import { accepted, refuseFields, unchanged } from "../../base/outcome.ts";
import type { Step } from "../../transitions/step.ts";

/** How long finished records and request ids stay in the live state. */
export interface SetRetentionCommand {
  readonly kind: "retention.set";
  readonly maxFinished: number;
  readonly maxFinishedAge: Duration;
}

/** The live state is not meant for more finished records. */
const MAX_FINISHED_LIMIT = 1_000_000;

export function setRetention(step: Step, command: SetRetentionCommand): Outcome {
  const { maxFinished, maxFinishedAge } = command;
  const problems: FieldProblem[] = [];
  if (!isWithin(maxFinished, MAX_FINISHED_LIMIT)) {
    problems.push({ field: "retention.max_finished", detail: `must be a whole number up to ${MAX_FINISHED_LIMIT}` });
  }
  if (!isWithin(maxFinishedAge, Number.MAX_SAFE_INTEGER)) {
    problems.push({ field: "retention.max_finished_age", detail: "must not be negative" });
  }
  if (problems.length > 0) return refuseFields(problems);
  const now = step.state.retention;
  if (now.maxFinished === maxFinished && now.maxFinishedAge === maxFinishedAge) return unchanged(null);

  step.state.retention = { maxFinished, maxFinishedAge };
  return accepted(null);
}

const isWithin = (n: number, most: number): boolean => Number.isSafeInteger(n) && n >= 0 && n <= most;
