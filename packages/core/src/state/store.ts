// The parts of the state that its readers and writers share: tables, counters and indexes.

import type { AllocationId, NodeId } from "../base/ids.ts";
import { InvariantError } from "../base/invariant.ts";
import type { Allocation } from "../model/allocation/allocation.ts";
import type { TaskGroup } from "../model/group/group.ts";
import { CHUNK_SIZE, chunkOf, markKey, WAITING } from "../model/group/marks.ts";
import type { Node } from "../model/node/node.ts";
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
  tables.allocations.get(id) ?? notStored(`allocation ${id}`);

export const nodeIn = ({ tables }: Store, id: NodeId): Node => tables.nodes.get(id) ?? notStored(`node ${id}`);

/** The message is only made when a record is missing: a snapshot reads every node. */
function notStored(record: string): never {
  throw new InvariantError(`${record} is indexed but not stored`);
}

export const markOf = (tables: Tables, group: TaskGroup, position: number): string =>
  tables.marks.get(markKey(group.id, chunkOf(position)))?.marks[position % CHUNK_SIZE] ?? WAITING;
