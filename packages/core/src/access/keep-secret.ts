// A secret of the cluster is kept. The first one stands: several servers may each bring one, and what was signed must stay good.

import { problemList } from "../allocation/check-values.ts";
import type { KeepSecretCommand } from "../command.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, refuseFields, type Step, unchanged } from "../step.ts";
import { LEAST_SECRET_LENGTH, MAX_SECRET_LENGTH, SECRET_NAMES } from "./secret.ts";

const VALUE = new RegExp(`^[A-Za-z0-9_-]{${LEAST_SECRET_LENGTH},${MAX_SECRET_LENGTH}}$`);

export function keepSecret(step: Step, { name, value }: KeepSecretCommand): Outcome {
  const { secrets } = step.state.tables;
  const problems = problemList();
  problems.unless(SECRET_NAMES.includes(name), "name", "is not the name of a secret");
  problems.unless(VALUE.test(value), "value", "is not a secret");
  if (problems.list.length > 0) return refuseFields(problems.list);
  if (secrets.get(name) !== undefined) return unchanged(null);
  secrets.set(name, { name, value });
  return accepted(null);
}
