// Names that one allocation of a tenant holds at a time. A name is given when everything else is met and
// held, over requeues too, until the end; of those who wait the lowest id gets it. Who wants several
// takes them in the order of their names, so that no two wait for each other.

import type { AllocationId } from "../ids.ts";
import { present } from "../invariant.ts";
import { lockKey, namesOf } from "../state/flows.ts";
import type { Step } from "../step.ts";
import type { Allocation } from "./allocation.ts";
import { mutexEdges } from "./dependency.ts";
import { stillWaits } from "./release.ts";

/** For one that may have nothing but names left to wait for. */
export const askForNames = (step: Step, id: AllocationId): void =>
  giveName(step, namesOf(step.state.allocation(id)).wanted);

/** The record has ended: what it held is free. */
export function giveNamesOn(step: Step, record: Allocation): void {
  for (const { ref, condition } of record.spec.dependsOn ?? []) {
    if (condition === "mutex") giveName(step, lockKey(record.spec.tenant, ref));
  }
}

/** To the first who wants it, if it is free, and then the next that this one wants. */
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
  const unmet = record.unmet ?? [];
  const [name] = mutexEdges(record.spec.dependsOn ?? [], unmet);
  stillWaits(
    step,
    record,
    unmet.filter((n) => n !== name),
  );
}
