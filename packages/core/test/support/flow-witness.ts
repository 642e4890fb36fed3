// Watches what is queued in a history with dependencies (E2), with books of its own: how everything
// ended, learned from events and, for elements that never were records, from the marks.

import {
  type Allocation,
  type AllocationId,
  type Applied,
  type Dependency,
  type EndKind,
  elementOf,
  positionOf,
  type State,
  type TaskGroup,
} from "@lattice/core";

export interface FlowWork {
  released: number;
  skipped: number;
  elements: number;
  groupsEnded: number;
  dagsEnded: number;
  namesTaken: number;
}

export const noFlowWork = (): FlowWork => ({
  released: 0,
  skipped: 0,
  elements: 0,
  groupsEnded: 0,
  dagsEnded: 0,
  namesTaken: 0,
});

export function createFlowWitness(state: State, work: FlowWork): { after(applied: Applied): void } {
  const ends = new Map<string, EndKind>();
  const groups = new Map<AllocationId, TaskGroup>();
  const queued = new Set<AllocationId>();

  /** Elements that never were records, of a group that has left within the entry that ended it. */
  function learnArchived({ effects }: Applied): void {
    for (const effect of effects) {
      if (effect.kind !== "archive" || effect.record.group === undefined) continue;
      const { id, group } = effect.record;
      for (let index = group.range.start; index <= group.range.end; index += 1) {
        if (positionOf(group.range, index) === null) continue;
        if (!ends.has(`${id}_${index}`)) ends.set(`${id}_${index}`, "cancelled");
      }
    }
  }

  function learn({ events }: Applied): void {
    for (const group of state.groups()) {
      groups.set(group.id, group);
      for (let index = group.range.start; index <= group.range.end; index += 1) {
        const how = state.element(group, index);
        if (how === "completed" || how === "failed" || how === "cancelled") ends.set(`${group.id}_${index}`, how);
      }
    }
    for (const event of events) {
      if (event.kind === "dag_changed" && event.from !== "") work.dagsEnded += 1;
      const { allocation, to, reason } = event;
      if (event.kind !== "allocation_changed" || allocation === undefined) continue;
      if (reason === "released") work.released += 1;
      if (reason === "dependency_failed") work.skipped += 1;
      if (to !== "completed" && to !== "failed" && to !== "cancelled") continue;
      if (ends.has(allocation) && ends.get(allocation) !== to) throw new Error(`${allocation} ended twice`);
      ends.set(allocation, to);
      if (groups.has(allocation)) work.groupsEnded += 1;
      else if (elementOf(allocation) !== null) work.elements += 1;
    }
  }

  function checkQueued(record: Allocation): void {
    const edges = record.spec.dependsOn ?? [];
    const failures = edges.filter(({ condition }) => condition === "failure");
    const caught = failures.some(({ ref }) => ends.get(ref) === "failed" || ends.get(ref) === "cancelled");
    if (failures.length > 0 && !caught) throw new Error(`${record.id} is queued, and nothing has failed`);
    for (const edge of edges) {
      if (!holds(record, edge)) throw new Error(`${record.id} is queued before ${edge.ref}:${edge.condition} holds`);
    }
    if (edges.some(({ condition }) => condition === "mutex")) work.namesTaken += 1;
  }

  function holds({ element }: Allocation, { ref, condition }: Dependency): boolean {
    if (condition === "mutex" || condition === "failure") return true;
    if (condition === "any") return ends.has(ref);
    const other = groups.get(ref as AllocationId);
    if (condition === "success" || element === undefined || other === undefined) return ends.get(ref) === "completed";
    return positionOf(other.range, element.index) === null || ends.get(`${ref}_${element.index}`) === "completed";
  }

  return {
    after(applied) {
      learn(applied);
      learnArchived(applied);
      for (const { id } of state.vclusters()) {
        for (const record of state.pending(id)) {
          if (queued.has(record.id)) continue;
          queued.add(record.id);
          checkQueued(record);
        }
      }
    },
  };
}
