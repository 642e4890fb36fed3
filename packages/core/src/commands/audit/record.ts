// audit.record: adds a record for an action that no other command carries, such as opening a terminal.

import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuseFields } from "../../base/outcome.ts";

import type { AuditAction } from "../../model/audit/action.ts";
import type { Origin } from "../../model/origin.ts";

/** Records an action that no other command represents, such as opening a terminal. */
export interface RecordAuditCommand {
  readonly kind: "audit.record";
  readonly origin: Origin;
  readonly action: AuditAction;
  /** The response to the caller, repeated for a request with the same id. */
  readonly answer?: string;
}

/** The longest stored response: the description of a backup with a long path. */
const MAX_KEPT_ANSWER = 16_384;

/** The record itself carries out the command. */
export function recordAction({ answer }: RecordAuditCommand): Outcome {
  if (answer === undefined || answer.length <= MAX_KEPT_ANSWER) return accepted(answer ?? null);
  return refuseFields([{ field: "answer", detail: `must have at most ${MAX_KEPT_ANSWER} characters` }]);
}
