// What a placement of an allocation must satisfy: what its user asked for, and the nodes that were set
// aside for it. The scheduler and `apply` both ask here. Answers are kept, so that the same record
// gives the same object.

import type { Allocation } from "./allocation.ts";
import type { Constraints } from "./spec.ts";

export function placementConstraints(record: Allocation): Constraints {
  const { constraints } = record.spec.resources;
  if (record.setAside === undefined || record.setAside.length === 0) return constraints;
  const known = answers.get(record);
  if (known !== undefined) return known;
  const excludedNodes = [...new Set([...constraints.excludedNodes, ...record.setAside])];
  const answer: Constraints = { ...constraints, excludedNodes };
  answers.set(record, answer);
  return answer;
}

const answers = new WeakMap<Allocation, Constraints>();
