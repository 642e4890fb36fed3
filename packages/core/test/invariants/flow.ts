// Invariants of waiting work: nothing is queued before its dependencies are met, nothing
// waits for what has ended, a name has one holder and is not left lying, the counts of a task group are
// those of its marks and records, and a DAG knows how its members ended.

import type { AllocationId } from "../../src/base/ids.ts";
import { elementId, elementOf } from "../../src/base/ids.ts";
import type { Allocation } from "../../src/model/allocation/allocation.ts";
import { isFinal } from "../../src/model/allocation/phase.ts";
import type { Dag } from "../../src/model/dag/dag.ts";
import { GROUP_WINDOW, hasGroupEnded, type TaskGroup, waitingCount } from "../../src/model/group/group.ts";
import { indexAt, sizeOf } from "../../src/model/group/range.ts";
import { isResting } from "../../src/state/element-index.ts";
import type { View } from "../../src/state/view.ts";

export function brokenFlows(view: View): string[] {
  return [
    ...brokenBlocked(view),
    ...brokenNames(view.allocations()),
    ...Array.from(view.groups(), (group) => brokenGroup(view, group)).flat(),
    ...Array.from(view.dags(), (dag) => brokenDag(view, dag)).flat(),
  ];
}

/** E2. */
function brokenBlocked(view: View): string[] {
  const broken: string[] = [];
  const wanted: Allocation[] = [];
  for (const record of view.allocations()) {
    if (record.unmet.length === 0) continue;
    broken.push(...brokenWait(view, record));
    if (record.phase.kind === "pending") wanted.push(record);
  }
  const listed = [...view.blocked()];
  const same = wanted.length === listed.length && wanted.every((record, n) => record === listed[n]);
  if (!same) broken.push("the blocked allocations differ from those with unmet dependencies");
  for (const { id } of view.vclusters()) {
    for (const record of view.pending(id)) {
      if (record.unmet.length > 0) broken.push(`allocation ${record.id} is queued with unmet dependencies`);
    }
  }
  return broken;
}

/** Of one that has unmet dependencies. */
export function brokenWait(view: View, record: Allocation): string[] {
  const { id, unmet, phase } = record;
  const broken: string[] = [];
  if (unmet.length === 0 || isFinal(phase)) return broken;
  if (phase.kind !== "pending") broken.push(`allocation ${id} is ${phase.kind} before its dependencies are met`);
  return [...broken, ...brokenEdges(view, record)];
}

/** Edges are judged at the end of what they name: none waits for what is over. */
function brokenEdges(view: View, { id, spec, unmet }: Allocation | TaskGroup): string[] {
  return unmet.flatMap((n) => {
    const edge = spec.dependsOn?.[n];
    if (edge === undefined) return [`${id} waits for a dependency that it does not have`];
    if (edge.condition === "mutex") return [];
    return isOpen(view, edge.ref as AllocationId) ? [] : [`${id} waits for ${edge.ref}, which is over`];
  });
}

function isOpen(view: View, ref: AllocationId): boolean {
  const record = view.allocation(ref);
  if (record !== undefined) return !isFinal(record.phase);
  const group = view.group(ref);
  if (group !== undefined) return !hasGroupEnded(group.phase);
  const element = elementOf(ref);
  const parent = element === null ? undefined : view.group(element.group);
  return element !== null && parent !== undefined && view.element(parent, element.index) === "waiting";
}

/** Of all that are there, or at least of all that hold or want a name. */
export function brokenNames(records: Iterable<Allocation>): string[] {
  const holders = new Map<string, AllocationId>();
  const wanting = new Map<string, AllocationId>();
  const broken: string[] = [];
  for (const record of records) {
    if (record.spec.dependsOn === undefined || isFinal(record.phase)) continue;
    const unmet = record.unmet;
    const names = record.spec.dependsOn.flatMap(({ ref, condition }, n) => (condition === "mutex" ? [{ ref, n }] : []));
    const left = names.filter(({ n }) => unmet.includes(n));
    for (const { ref, n } of names) {
      if (unmet.includes(n)) continue;
      const key = `${record.spec.tenant} ${ref}`;
      const other = holders.get(key);
      if (other !== undefined) broken.push(`both ${other} and ${record.id} hold ${ref}`);
      holders.set(key, record.id);
    }
    const next = left.map(({ ref }) => ref).reduce((a, b) => (b < a ? b : a), "\uffff");
    if (record.hold !== undefined) continue;
    if (left.length > 0 && left.length === unmet.length) wanting.set(`${record.spec.tenant} ${next}`, record.id);
  }
  for (const [key, id] of wanting) if (!holders.has(key)) broken.push(`${id} waits for ${key}, which is free`);
  return broken;
}

export function brokenGroup(view: View, group: TaskGroup): string[] {
  const { id, range, counts, concurrency } = group;
  const broken = brokenEdges(view, hasGroupEnded(group.phase) ? { ...group, unmet: [] } : group);
  const seen = { waiting: 0, made: 0, completed: 0, failed: 0, cancelled: 0 };
  let pending = 0;
  let resting = 0;
  let held = 0;
  let open = 0;
  for (let position = 0; position < sizeOf(range); position += 1) {
    const index = indexAt(range, position);
    const state = view.element(group, index) ?? "waiting";
    seen[state] += 1;
    const record = view.allocation(elementId(id, index));
    if (record?.phase.kind === "pending") pending += 1;
    if (isResting(record)) resting += 1;
    if (record?.hold !== undefined) held += 1;
    if (state === "waiting" && view.elementHold(group, index) === null) open += 1;
    if (record !== undefined && !isFinal(record.phase) && state !== "made")
      broken.push(`${record.id} lives as ${state}`);
    if (state === "made" && (record === undefined || isFinal(record.phase))) broken.push(`${id}_${index} is gone`);
    if (record !== undefined && isFinal(record.phase) && record.phase.kind !== state) {
      broken.push(`${record.id} is ${record.phase.kind} and counted as ${state}`);
    }
  }
  for (const kind of ["made", "completed", "failed", "cancelled"] as const) {
    if (seen[kind] !== counts[kind]) broken.push(`group ${id} counts ${counts[kind]} ${kind} of ${seen[kind]}`);
  }
  if (waitingCount(group) !== seen.waiting) broken.push(`group ${id} counts other waiting elements`);
  if (view.pendingElements(id) !== pending) broken.push(`group ${id} counts other pending elements`);
  if (view.restingElements(id) !== resting) broken.push(`group ${id} counts other suspended elements`);
  if (concurrency !== null && counts.made > concurrency) broken.push(`group ${id} has ${counts.made} under way`);
  const over = seen.waiting === 0 && seen.made === 0;
  if (over !== hasGroupEnded(group.phase))
    broken.push(`group ${id} is ${group.phase.kind} with ${seen.made} under way`);
  const room = pending - held < GROUP_WINDOW && counts.made < (concurrency ?? counts.made + 1);
  const free = group.unmet.length === 0 && group.hold === undefined && group.counterparts.length === 0;
  const ready = open > 0 && free;
  if (room && ready) broken.push(`group ${id} has room and makes nothing`);
  return broken;
}

export function brokenDag(view: View, dag: Dag): string[] {
  const broken: string[] = [];
  if (dag.ends.length !== dag.members.length) broken.push(`${dag.id} has marks of ${dag.ends.length} members`);
  dag.members.forEach(({ id, name }, n) => {
    const record = view.allocation(id);
    const group = view.group(id);
    const open =
      (record !== undefined && !isFinal(record.phase)) || (group !== undefined && !hasGroupEnded(group.phase));
    if (open !== (dag.ends[n] === ".")) broken.push(`${dag.id} has ${name} as ${dag.ends[n]}`);
  });
  if (dag.ends.includes(".") !== (dag.endedAt === null)) broken.push(`${dag.id} ended with members under way`);
  return broken;
}
