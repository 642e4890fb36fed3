// Ended work whose dependents are not settled yet.

import type { AllocationId } from "../../base/ids.ts";
import type { TaskGroup } from "../group/group.ts";
import type { EndKind } from "../spec/dependency.ts";
import type { Allocation } from "./allocation.ts";

export interface EndedWork {
  readonly id: AllocationId;
  readonly end: EndKind;
  /** `null` for an element without a record. */
  readonly record: Allocation | TaskGroup | null;
}
