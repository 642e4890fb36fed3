// Stores a secret of the cluster, which may be rotated later. The first stored value wins, because several servers may
// propose one. A rotated value still verifies old signatures for the period that the rotation names.

import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuseFields, unchanged } from "../../base/outcome.ts";

import type { SecretName } from "../../model/access/secret.ts";
import { checkSecret } from "../../model/access/secret.ts";
import type { Step } from "../../transitions/step.ts";

/** Stores a secret that one server generated for all. An existing value is kept. */
export interface KeepSecretCommand {
  readonly kind: "secret.keep";
  readonly name: SecretName;
  readonly value: string;
}

export function keepSecret(step: Step, { name, value }: KeepSecretCommand): Outcome {
  const { secrets } = step.state.tables;
  const problems = checkSecret(name, value);
  if (problems.list.length > 0) return refuseFields(problems.list);
  if (secrets.get(name) !== undefined) return unchanged(null);
  secrets.set(name, { name, value });
  return accepted(null);
}
