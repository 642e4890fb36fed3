// What follows from an end: names are given on, dependents are released or can never run, the group and
// the DAG of what has ended are told. It is done after each command, with a list and not by recursion:
// a chain of a hundred thousand dependents must not be as deep as the stack.

import { queueClearing } from "../checkpoint/clear.ts";
import { memberEnded } from "../dag/ended.ts";
import { elementEnded } from "../group/element.ts";
import { advanceGroup } from "../group/fill.ts";
import { queueEnd } from "../notice/deliver.ts";
import type { Step } from "../step.ts";
import { judgeDependents } from "./dependents.ts";
import type { Ended } from "./ended.ts";
import { giveNamesOn } from "./mutex.ts";

export function settle(step: Step): void {
  while (step.ended.length > 0 || step.stirred.size > 0) {
    for (const ended of step.ended.splice(0)) settleOne(step, ended);
    const stirred = [...step.stirred];
    step.stirred.clear();
    for (const group of stirred) advanceGroup(step, group);
  }
}

function settleOne(step: Step, ended: Ended): void {
  const { id, record } = ended;
  queueEnd(step, ended);
  queueClearing(step, ended);
  elementEnded(step, ended);
  if (record !== null && "attempt" in record) giveNamesOn(step, record);
  judgeDependents(step, id, ended.end);
  if (record?.dag !== undefined && !("element" in record)) memberEnded(step, record.dag, ended);
}
