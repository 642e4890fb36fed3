// limits.set: changes the limits of the whole cluster. A lower limit stops no running work; it applies from the next
// placement on.

import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuseFields, unchanged } from "../../base/outcome.ts";

import { isCount, problemList } from "../../model/checks.ts";
import type { ClusterLimits } from "../../model/settings/limits.ts";
import { MAX_POOL_SIZE } from "../../model/settings/limits.ts";
import type { Step } from "../../transitions/step.ts";

/** The limits of the cluster, from configuration. */
export interface SetLimitsCommand {
  readonly kind: "limits.set";
  readonly limits: ClusterLimits;
}

export function setLimits(step: Step, { limits }: SetLimitsCommand): Outcome {
  const { sensitivePoolSize } = limits;
  const problems = problemList();
  const fits = sensitivePoolSize === null || isCount(sensitivePoolSize, 0, MAX_POOL_SIZE);
  problems.unless(fits, "sensitive_pool_size", `must be a whole number from 0 to ${MAX_POOL_SIZE}`);
  if (problems.list.length > 0) return refuseFields(problems.list);
  if (step.state.limits.sensitivePoolSize === sensitivePoolSize) return unchanged(null);
  step.state.tables.limits.set("limits", { sensitivePoolSize });
  return accepted(null);
}
