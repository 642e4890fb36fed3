// Converts the indexes of a task group in both directions. One range has start and end; several ranges are a list, whose
// start and end are the lowest and the highest index.

import { create } from "@bufbuild/protobuf";
import { describeRange, type ElementRange, type GroupShape, parseIndexes, rangeOfRuns } from "@lattice/core";
import { type TaskGroup, TaskGroupSchema } from "../../gen/lattice/v1/groups_pb.ts";
import { fieldError } from "../errors/field-list.ts";

const FIELD = "allocation.task_group";
const HINT = 'Write "1,3,5-7", or leave it out and give start and end.';

/** The core validates the range. Throws a ProblemError for a malformed list. */
export const shapeFromProto = (written: TaskGroup): GroupShape => ({
  range: written.indexes === "" ? plainRange(written) : listedRange(written),
  concurrency: written.concurrency ?? null,
});

const plainRange = ({ start, end, step }: TaskGroup): ElementRange => ({ start, end, step: step ?? 1 });

function listedRange({ start, end, step, indexes }: TaskGroup): ElementRange {
  const parsed = parseIndexes(indexes);
  if (parsed.kind === "bad") throw fieldError([{ field: `${FIELD}.indexes`, detail: parsed.detail, hint: HINT }]);
  const range = rangeOfRuns(parsed.runs);
  const given = (start === 0 && end === 0) || (start === range.start && end === range.end);
  if (!given || (step ?? range.step) !== range.step) {
    const detail = `has other indexes than start, end and step (${range.start} to ${range.end})`;
    throw fieldError([{ field: `${FIELD}.indexes`, detail, hint: HINT }]);
  }
  return range;
}

export const shapeToProto = ({ range, concurrency }: GroupShape): TaskGroup =>
  create(TaskGroupSchema, {
    start: range.start,
    end: range.end,
    step: range.step,
    indexes: range.runs === undefined ? "" : describeRange(range),
    ...(concurrency === null ? {} : { concurrency }),
  });
