// Begins the range of a new audit key, and ends that of the key before it. Records that are not signed yet belong to the
// new key, so the private key of the old one is not needed any more.

import { type AuditKey, auditKeyId } from "../../model/audit/key.ts";
import type { State } from "../../state/state.ts";
import type { Step } from "../step.ts";

export function beginAuditKey(step: Step, publicKey: string, endorsement: string | null): AuditKey {
  const { state } = step;
  endAuditKey(state);
  const id = auditKeyId(publicKey);
  const key = { id, publicKey, first: state.signedAudit() + 1, last: null, since: step.at, endorsement };
  state.tables.auditKeys.set(id, key);
  return key;
}

/** Nothing can be signed until the next key begins. */
export function endAuditKey(state: State): void {
  const current = state.auditKey();
  if (current !== null) state.tables.auditKeys.set(current.id, { ...current, last: state.signedAudit() });
}
