// The parts of the state that its readers and writers share: tables, counters and indexes.

import type { AllocationId } from "../base/ids.ts";
import { present } from "../base/invariant.ts";
import type { Allocation } from "../model/allocation/allocation.ts";
import type { TaskGroup } from "../model/group/group.ts";
import { CHUNK_SIZE, chunkOf, markKey, WAITING } from "../model/group/marks.ts";
import type { GrantIndex } from "./grants-by-user.ts";
import type { Indexes } from "./indexes.ts";
import type { Newest } from "./newest.ts";
import type { Tables } from "./tables.ts";

export interface Counters {
  nextAllocation: number;
  nextRequest: number;
  nextFinished: number;
}

/** The parts of the state that its readers and writers share. */
export interface Store {
  readonly tables: Tables;
  readonly indexes: Indexes;
  readonly counters: Counters;
  readonly newest: Newest<Allocation>;
  readonly grants: GrantIndex;
}

export const allocationIn = ({ tables }: Store, id: AllocationId): Allocation =>
  present(tables.allocations.get(id), `allocation ${id} is indexed but not stored`);

export const markOf = (tables: Tables, group: TaskGroup, position: number): string =>
  tables.marks.get(markKey(group.id, chunkOf(position)))?.marks[position % CHUNK_SIZE] ?? WAITING;
