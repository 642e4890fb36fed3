// Counts unfinished work of some kind. It scans everything, so it is used only before a tenant or a vCluster is
// removed.

import type { Allocation } from "../model/allocation/allocation.ts";
import { isFinal } from "../model/allocation/phase.ts";
import { hasGroupEnded, type TaskGroup } from "../model/group/group.ts";
import type { View } from "../state/view.ts";

export function unfinished(view: View, wanted: (work: Allocation | TaskGroup) => boolean): number {
  let count = 0;
  for (const record of view.allocations()) if (!isFinal(record.phase) && wanted(record)) count += 1;
  for (const group of view.groups()) if (!hasGroupEnded(group.phase) && wanted(group)) count += 1;
  return count;
}
