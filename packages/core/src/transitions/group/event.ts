// Emits the events of a task group, which have the form of allocation events; elements emit their own.

import { NO_ATTEMPT } from "../../base/ids.ts";
import { groupEnd } from "../../model/allocation/group-record.ts";
import type { AllocationChanged } from "../../model/event/event.ts";
import { hasGroupEnded, type TaskGroup } from "../../model/group/group.ts";

/** `from` is empty for a new group. */
export function groupChanged(group: TaskGroup, from: string): AllocationChanged {
  const end = hasGroupEnded(group.phase) ? groupEnd(group) : null;
  const reason = end !== null && "reason" in end ? end.reason : "";
  return {
    kind: "allocation_changed",
    allocation: group.id,
    attempt: NO_ATTEMPT,
    tenant: group.spec.tenant,
    vcluster: group.spec.vcluster,
    user: group.user,
    from,
    to: group.phase.kind,
    reason: from === "" ? "submitted" : reason,
    message: end?.message ?? "",
  };
}
