// audit.sign: adds the leader's signatures to committed audit records, in order and without gaps. The signatures are
// verified by readers, because the core has no cryptography; only the leader can propose this command.

import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuse, refuseFields } from "../../base/outcome.ts";
import { isAuditSignature } from "../../model/audit/key.ts";
import type { Step } from "../../transitions/step.ts";

export interface SignAuditCommand {
  readonly kind: "audit.sign";
  /** The id of the current key. */
  readonly key: string;
  /** The oldest record without a signature. */
  readonly first: number;
  /** Of consecutive records, at most `MAX_SIGNED_TOGETHER`. */
  readonly signatures: readonly string[];
}

/** About 50 KB in one entry of the log. */
export const MAX_SIGNED_TOGETHER = 500;

export function signAudit({ state }: Step, { key, first, signatures }: SignAuditCommand): Outcome {
  const isBounded = signatures.length > 0 && signatures.length <= MAX_SIGNED_TOGETHER;
  if (!isBounded || !signatures.every(isAuditSignature))
    return refuseFields([{ field: "signatures", detail: `must be 1 to ${MAX_SIGNED_TOGETHER} signatures` }]);
  const current = state.auditKey();
  if (current?.id !== key)
    return refuse("illegal_transition", `the current audit key is ${current?.id ?? "not made yet"}, not ${key}`);
  const next = state.signedAudit() + 1;
  const last = state.lastAudit()?.n ?? 0;
  if (first !== next || first + signatures.length - 1 > last)
    return refuse("illegal_transition", `records ${next} to ${last} are to be signed`);
  for (const [i, signature] of signatures.entries()) state.signAudit(first + i, { key, signature });
  return accepted(null);
}
