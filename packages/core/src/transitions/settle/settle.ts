// The consequences of an end: mutex names pass on, dependents are released or cancelled, and the group and DAG of the
// ended work are updated. It runs after each command, with a list and not by recursion: a chain of a hundred thousand
// dependents must not be as deep as the stack.

import type { EndedWork } from "../../model/allocation/ended-work.ts";
import { passMutexesOn } from "../allocation/mutex.ts";
import { queueCheckpointRemoval } from "../checkpoint/queue-removal.ts";
import { advanceGroup } from "../group/create-elements.ts";
import { endElement } from "../group/end-element.ts";
import { queueEndDelivery } from "../notice/deliver.ts";
import type { Step } from "../step.ts";
import { judgeDependents } from "./dependents.ts";
import { endDagMember } from "./end-dag-member.ts";

export function settleEndedWork(step: Step): void {
  while (step.endedWork.length > 0 || step.touchedGroups.size > 0) {
    for (const ended of step.endedWork.splice(0)) settleOne(step, ended);
    const touched = [...step.touchedGroups];
    step.touchedGroups.clear();
    for (const group of touched) advanceGroup(step, group);
  }
}

function settleOne(step: Step, ended: EndedWork): void {
  const { id, record } = ended;
  queueEndDelivery(step, ended);
  queueCheckpointRemoval(step, ended);
  endElement(step, ended);
  if (record !== null && "attempt" in record) passMutexesOn(step, record);
  judgeDependents(step, id, ended.end);
  if (record?.dag !== undefined && !("element" in record)) endDagMember(step, record.dag, ended);
}
