// The limits of the whole cluster are changed. Lowering one stops nobody: it holds from the next placement on.

import { isCount, problemList } from "../allocation/check-values.ts";
import type { SetLimitsCommand } from "../command.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, refuseFields, type Step, unchanged } from "../step.ts";
import { MAX_POOL_SIZE } from "./limits.ts";

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
