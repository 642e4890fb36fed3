// Watchers hear of a task group as they do of an allocation; its elements tell of themselves.

import type { Attempt } from "../ids.ts";
import type { Event } from "../outcome.ts";
import { groupEnd } from "./fold.ts";
import { hasGroupEnded, type TaskGroup } from "./group.ts";

/** `from` is empty for a new one. */
export function groupChanged(group: TaskGroup, from: string): Event {
  const end = hasGroupEnded(group.phase) ? groupEnd(group) : null;
  const reason = end !== null && "reason" in end ? end.reason : "";
  return {
    kind: "allocation_changed",
    allocation: group.id,
    attempt: 0 as Attempt,
    tenant: group.spec.tenant,
    vcluster: group.spec.vcluster,
    user: group.user,
    from,
    to: group.phase.kind,
    reason: from === "" ? "submitted" : reason,
    message: end?.message ?? "",
  };
}
