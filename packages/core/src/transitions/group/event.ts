// Watchers hear of a task group as they do of an allocation; its elements tell of themselves.

import { NO_ATTEMPT } from "../../base/ids.ts";
import { groupEnd } from "../../model/allocation/group-record.ts";
import type { AllocationChanged } from "../../model/event/event.ts";
import { hasGroupEnded, type TaskGroup } from "../../model/group/group.ts";

/** `from` is empty for a new one. */
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
