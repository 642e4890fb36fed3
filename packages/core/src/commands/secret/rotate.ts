// secret.rotate: replaces a secret of the cluster. The replaced secret stays valid for what it signed, for a time that the
// administrator chooses.

import type { Duration } from "../../base/ids.ts";
import { instant } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuse, refuseFields } from "../../base/outcome.ts";
import type { SecretName } from "../../model/access/secret.ts";
import { checkSecret, MAX_EARLIER_SECRETS } from "../../model/access/secret.ts";
import type { Origin } from "../../model/origin.ts";
import type { Step } from "../../transitions/step.ts";

/** Replaces the secret; signatures of the old one stay valid for `keep`. */
export interface RotateSecretCommand {
  readonly kind: "secret.rotate";
  readonly origin: Origin;
  readonly name: SecretName;
  readonly value: string;
  /** Zero: the old value and all earlier ones are invalid at once. */
  readonly keep: Duration;
}

export function rotateSecret(step: Step, { name, value, keep }: RotateSecretCommand): Outcome {
  const { secrets } = step.state.tables;
  const problems = checkSecret(name, value);
  problems.unless(Number.isSafeInteger(keep) && keep >= 0, "keep", "is not a time");
  if (problems.list.length > 0) return refuseFields(problems.list);
  const known = secrets.get(name);
  if (known === undefined) return refuse("illegal_transition", "this cluster has no generated key for job tokens");
  const good = (known.earlier ?? []).filter(({ until }) => until > step.at);
  if (known.value === value || good.some((one) => one.value === value))
    return refuseFields([{ field: "value", detail: "was used before: choose a new key" }]);
  // A value that is revoked at once takes all earlier ones with it: they are no more trustworthy.
  const earlier = keep === 0 ? [] : [{ value: known.value, until: instant(step.at + keep) }, ...good];
  if (earlier.length > MAX_EARLIER_SECRETS) {
    const figures = { current: good.length, requested: 1, limit: MAX_EARLIER_SECRETS };
    return refuse("quota_exceeded", `${MAX_EARLIER_SECRETS} earlier keys are still valid`, figures);
  }

  secrets.set(name, { name, value, ...(earlier.length === 0 ? {} : { earlier }) });
  return accepted(null);
}
