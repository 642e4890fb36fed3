// Mutex names: one allocation of a tenant holds a name at a time. A name is granted when every other dependency is met,
// and held until the end, over requeues too; the waiting allocation with the lowest id gets it next. An allocation that
// wants several takes them in the order of their names, which excludes deadlocks.

import type { AllocationId } from "../../base/ids.ts";
import { present } from "../../base/invariant.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { mutexEdges } from "../../model/spec/dependency.ts";
import { lockKey, namesOf } from "../../state/mutex-index.ts";
import type { Step } from "../step.ts";
import { setUnmetDependencies } from "./unmet-dependencies.ts";

/** Grants mutex names to work whose other dependencies are met. */
export const requestMutexes = (step: Step, id: AllocationId): void =>
  giveName(step, namesOf(step.state.allocation(id)).wanted);

/** Releases the names of ended work. */
export function passMutexesOn(step: Step, record: Allocation): void {
  for (const { ref, condition } of record.spec.dependsOn ?? []) {
    if (condition === "mutex") giveName(step, lockKey(record.spec.tenant, ref));
  }
}

/** Grants a free name to the first waiting allocation, then the next name that it needs. */
function giveName(step: Step, key: string | null): void {
  let wanted = key;
  while (wanted !== null) {
    const lock = step.state.indexes.flows.lock(wanted);
    if (lock === undefined || lock.holder !== null) return;
    const [first] = lock.waiting;
    if (first === undefined) return;
    take(step, present(step.state.allocation(first), `allocation ${first} waits and is not stored`));
    wanted = namesOf(step.state.allocation(first)).wanted;
  }
}

function take(step: Step, record: Allocation): void {
  const unmet = record.unmet;
  const [name] = mutexEdges(record.spec.dependsOn ?? [], unmet);
  setUnmetDependencies(
    step,
    record,
    unmet.filter((n) => n !== name),
  );
}
