// Who an allocation belongs to, as far as the caller may know. Somebody else's work is shown as such: that it is
// there is no secret, whose it is may be one.

import type { AllocationId } from "@lattice/core";
import { reaches } from "../access/authorize.ts";
import type { Call } from "../call.ts";
import { ownerOf } from "./work.ts";

export interface Shown {
  readonly allocationId: string;
  readonly tenant: string;
  readonly user: string;
}

const SOMEBODY: Shown = { allocationId: "", tenant: "", user: "" };

export function shownTo(call: Call, id: AllocationId | null): Shown {
  const record = id === null ? undefined : call.plane.view().allocation(id);
  if (record === undefined || !reaches(call.principal, "AllocationService.Get", ownerOf(record))) return SOMEBODY;
  return { allocationId: record.id, tenant: record.spec.tenant, user: record.user };
}
