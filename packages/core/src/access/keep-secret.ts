// A secret of the cluster is kept, and may be followed by another. The first one that is kept stands: several servers may each bring
// one. One that is followed still counts for what it has signed, for as long as whoever rotates it says.

import { problemList } from "../allocation/check-values.ts";
import type { KeepSecretCommand, RotateSecretCommand } from "../command.ts";
import { instant } from "../ids.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, refuse, refuseFields, type Step, unchanged } from "../step.ts";
import { LEAST_SECRET_LENGTH, MAX_EARLIER_SECRETS, MAX_SECRET_LENGTH, SECRET_NAMES } from "./secret.ts";

const VALUE = new RegExp(`^[A-Za-z0-9_-]{${LEAST_SECRET_LENGTH},${MAX_SECRET_LENGTH}}$`);

export function keepSecret(step: Step, { name, value }: KeepSecretCommand): Outcome {
  const { secrets } = step.state.tables;
  const problems = problemsOf(name, value);
  if (problems.list.length > 0) return refuseFields(problems.list);
  if (secrets.get(name) !== undefined) return unchanged(null);
  secrets.set(name, { name, value });
  return accepted(null);
}

export function rotateSecret(step: Step, { name, value, keep }: RotateSecretCommand): Outcome {
  const { secrets } = step.state.tables;
  const problems = problemsOf(name, value);
  problems.unless(Number.isSafeInteger(keep) && keep >= 0, "keep", "is not a time");
  if (problems.list.length > 0) return refuseFields(problems.list);
  const known = secrets.get(name);
  if (known === undefined)
    return refuse("illegal_transition", "this cluster has made no key of its own for the tokens of jobs");
  const good = (known.earlier ?? []).filter(({ until }) => until > step.at);
  if (known.value === value || good.some((one) => one.value === value))
    return refuseFields([{ field: "value", detail: "is one that was used before" }]);
  // One that may sign nothing any more takes those before it along: they are no better kept.
  const earlier = keep === 0 ? [] : [{ value: known.value, until: instant(step.at + keep) }, ...good];
  if (earlier.length > MAX_EARLIER_SECRETS) {
    const figures = { current: good.length, requested: 1, limit: MAX_EARLIER_SECRETS };
    return refuse("quota_exceeded", `${MAX_EARLIER_SECRETS} earlier keys still count`, figures);
  }

  secrets.set(name, { name, value, ...(earlier.length === 0 ? {} : { earlier }) });
  return accepted(null);
}

function problemsOf(name: string, value: string): ReturnType<typeof problemList> {
  const problems = problemList();
  problems.unless((SECRET_NAMES as readonly string[]).includes(name), "name", "is not the name of a secret");
  problems.unless(VALUE.test(value), "value", "is not a secret");
  return problems;
}
