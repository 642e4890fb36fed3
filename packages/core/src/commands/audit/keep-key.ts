// audit.keep_key: the first key of the audit log, and the next one after a restore: backups contain no private key. An
// existing current key is kept, because several leaders may propose one.

import { SYSTEM_USER } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, unchanged } from "../../base/outcome.ts";
import { appendAudit } from "../../transitions/audit/append.ts";
import { beginAuditKey } from "../../transitions/audit/key.ts";
import type { Step } from "../../transitions/step.ts";
import { refuseKey } from "./refuse-key.ts";

export interface KeepAuditKeyCommand {
  readonly kind: "audit.keep_key";
  readonly publicKey: string;
}

export function keepAuditKey(step: Step, { publicKey }: KeepAuditKeyCommand): Outcome {
  const current = step.state.auditKey();
  if (current !== null) return unchanged(current.id);
  const refusal = refuseKey(step.state, publicKey);
  if (refusal !== null) return refusal;
  const { id } = beginAuditKey(step, publicKey, null);
  appendAudit(step, SYSTEM_USER, "audit.keep_key", { scope: "cluster", detail: `key ${id}` });
  return accepted(id);
}
