// The checks that every new key of the audit log must pass.

import { type Outcome, refuse, refuseFields } from "../../base/outcome.ts";
import { auditKeyId, isAuditPublicKey, MAX_AUDIT_KEYS } from "../../model/audit/key.ts";
import type { State } from "../../state/state.ts";

export function refuseKey({ tables }: State, publicKey: string): Outcome | null {
  const bad = (detail: string) => refuseFields([{ field: "public_key", detail }]);
  if (!isAuditPublicKey(publicKey)) return bad("must be an Ed25519 key in base64");
  if (tables.auditKeys.has(auditKeyId(publicKey))) return bad("was used before: create a new key");
  const { size } = tables.auditKeys;
  if (size < MAX_AUDIT_KEYS) return null;
  const figures = { current: size, requested: 1, limit: MAX_AUDIT_KEYS };
  return refuse("quota_exceeded", `the audit log has had ${size} keys, and all of them are kept`, figures);
}
