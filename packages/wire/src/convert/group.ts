// Converts a task group to the contract: an allocation with the state of the whole group and its element counts.

import { create } from "@bufbuild/protobuf";
import { DEPENDENCY_FAILED, groupEnd, type HoldKind, hasGroupEnded, type TaskGroup } from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/allocations_pb.ts";
import { AllocationSchema } from "../../gen/lattice/v1/allocations_pb.ts";
import { timestampFromMs } from "../json/timestamp.ts";
import type { AllocationExtra } from "./allocation.ts";
import { dependencyToProto } from "./dependencies.ts";
import { type ElementsNow, groupStatus } from "./group-status.ts";
import { holdStatus } from "./hold.ts";
import { specToProto } from "./spec-to-proto.ts";
import { allocationStateToProto } from "./states.ts";

interface GroupExtra extends AllocationExtra, ElementsNow {
  /** Elements that are not queued yet; unset in lists. */
  readonly waitingIndexes?: string;
  /** Elements held individually, by the kind of hold. */
  readonly heldIndexes?: Readonly<Record<HoldKind, string>>;
}

export function groupToProto(group: TaskGroup, extra: GroupExtra): proto.Allocation {
  const { phase, spec, unmet } = group;
  const end = hasGroupEnded(phase) ? groupEnd(group) : null;
  const message = create(AllocationSchema, {
    id: group.id,
    state: allocationStateToProto(phase.kind),
    spec: specToProto(spec, group),
    user: group.user,
    submittedAt: timestampFromMs(group.submittedAt),
    reason: end !== null && "reason" in end ? end.reason : "",
    message: end?.message ?? "",
    pendingReasons: [...(extra.pendingReasons ?? [])],
    pendingReasonCodes: [...(extra.reasonCodes ?? [])],
    logIndex: extra.logIndex === undefined ? "" : `${extra.logIndex}`,
    group: {
      ...groupStatus(group, group.counts, extra),
      waitingIndexes: extra.waitingIndexes ?? "",
      userHoldIndexes: extra.heldIndexes?.user ?? "",
      adminHoldIndexes: extra.heldIndexes?.admin ?? "",
    },
    dagId: group.dag ?? "",
    unmetDependencies: unmet.flatMap((n) => spec.dependsOn?.[n] ?? []).map(dependencyToProto),
  });
  if (group.hold !== undefined && end === null) message.hold = holdStatus(group.hold);
  const startedAt = "startedAt" in phase ? phase.startedAt : null;
  if (startedAt !== null) message.startedAt = timestampFromMs(startedAt);
  const { cancelled } = group;
  if (cancelled !== undefined && cancelled.reason !== DEPENDENCY_FAILED) message.cancelledBy = cancelled.by;
  if (end !== null) message.endedAt = timestampFromMs(end.endedAt);
  return message;
}
