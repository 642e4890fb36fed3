// How the elements of a task group stand, in figures.

import { create } from "@bufbuild/protobuf";
import { type GroupCounts, type GroupShape, sizeOf } from "@lattice/core";
import { type TaskGroupStatus, TaskGroupStatusSchema } from "../../gen/lattice/v1/groups_pb.ts";
import { shapeToProto } from "./group-shape.ts";

/** `pending`: elements in the queue. */
export function groupStatus(shape: GroupShape, counts: GroupCounts, pending: number): TaskGroupStatus {
  const { made, completed, failed, cancelled } = counts;
  const size = sizeOf(shape.range);
  return create(TaskGroupStatusSchema, {
    range: shapeToProto(shape),
    size,
    waiting: size - made - completed - failed - cancelled,
    pending,
    running: Math.max(0, made - pending),
    completed,
    failed,
    cancelled,
  });
}
