// The constraints of a placement: the user's request, without the nodes that are excluded for the allocation. The
// scheduler and `apply` both use it. Results are cached, so that the same record gives the same object.

import type { Constraints } from "../spec/spec.ts";
import type { Allocation } from "./allocation.ts";

export function placementConstraints(record: Allocation): Constraints {
  const { constraints } = record.spec.resources;
  if (record.excludedNodes.length === 0) return constraints;
  const known = answers.get(record);
  if (known !== undefined) return known;
  const excludedNodes = [...new Set([...constraints.excludedNodes, ...record.excludedNodes])];
  const answer: Constraints = { ...constraints, excludedNodes };
  answers.set(record, answer);
  return answer;
}

const answers = new WeakMap<Allocation, Constraints>();
