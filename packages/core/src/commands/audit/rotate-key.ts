// audit.rotate_key: replaces the key that signs audit records. The old key endorses the new one, so that a verifier that
// trusts the old one accepts it; only the successor of a lost key has no endorsement.

import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuse, refuseFields } from "../../base/outcome.ts";
import { isAuditSignature } from "../../model/audit/key.ts";
import type { Origin } from "../../model/origin.ts";
import { beginAuditKey } from "../../transitions/audit/key.ts";
import type { Step } from "../../transitions/step.ts";
import { refuseKey } from "./refuse-key.ts";

export interface RotateAuditKeyCommand {
  readonly kind: "audit.rotate_key";
  readonly origin: Origin;
  /** The id of the key that it replaces. */
  readonly previous: string;
  readonly publicKey: string;
  /** `null`: the private key of the previous one is lost. */
  readonly endorsement: string | null;
}

export function rotateAuditKey(step: Step, { previous, publicKey, endorsement }: RotateAuditKeyCommand): Outcome {
  if (endorsement !== null && !isAuditSignature(endorsement))
    return refuseFields([{ field: "endorsement", detail: "is not a signature" }]);
  const refusal = refuseKey(step.state, publicKey);
  if (refusal !== null) return refusal;
  const current = step.state.auditKey();
  if (current?.id !== previous)
    return refuse("illegal_transition", `the current audit key is ${current?.id ?? "not made yet"}, not ${previous}`);
  return accepted(beginAuditKey(step, publicKey, endorsement).id);
}
