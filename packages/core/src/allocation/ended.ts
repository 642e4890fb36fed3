// An end that is not settled yet: others may wait for it.

import type { TaskGroup } from "../group/group.ts";
import type { AllocationId } from "../ids.ts";
import type { Allocation } from "./allocation.ts";
import type { EndKind } from "./dependency.ts";

export interface Ended {
  readonly id: AllocationId;
  readonly end: EndKind;
  /** Null: an element that never became a record. */
  readonly record: Allocation | TaskGroup | null;
}
