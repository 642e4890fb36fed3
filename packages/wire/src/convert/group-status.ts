// Element counts of a task group, by state.

import { create } from "@bufbuild/protobuf";
import { type GroupCounts, type GroupShape, sizeOf } from "@lattice/core";
import { type TaskGroupStatus, TaskGroupStatusSchema } from "../../gen/lattice/v1/groups_pb.ts";
import { shapeToProto } from "./group-shape.ts";

export interface ElementsNow {
  /** Elements in the queue. */
  readonly pending: number;
  /** Suspended until a user resumes them. */
  readonly resting: number;
}

export function groupStatus(
  shape: GroupShape,
  counts: GroupCounts,
  { pending, resting }: ElementsNow = { pending: 0, resting: 0 },
): TaskGroupStatus {
  const { made, completed, failed, cancelled } = counts;
  const size = sizeOf(shape.range);
  return create(TaskGroupStatusSchema, {
    range: shapeToProto(shape),
    size,
    waiting: size - made - completed - failed - cancelled,
    pending,
    running: Math.max(0, made - pending - resting),
    suspended: resting,
    completed,
    failed,
    cancelled,
  });
}
