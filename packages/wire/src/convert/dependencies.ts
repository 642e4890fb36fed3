// Dependencies and task groups of a submission, both ways.

import { create } from "@bufbuild/protobuf";
import { DEPENDENCY_CONDITIONS, type Dependency, type DependencyCondition, type GroupShape } from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/allocations_pb.ts";
import { DependencySchema } from "../../gen/lattice/v1/allocations_pb.ts";
import { type TaskGroup, TaskGroupSchema } from "../../gen/lattice/v1/groups_pb.ts";
import type { FieldList } from "../errors/field-list.ts";

const HINT = `Use one of ${DEPENDENCY_CONDITIONS.join(", ")}.`;

export function dependenciesFromProto(
  edges: readonly proto.Dependency[],
  problems: FieldList,
): readonly Dependency[] | undefined {
  if (edges.length === 0) return undefined;
  return edges.map(({ ref, condition }, n) => {
    const word = (condition === "" ? "success" : condition.toLowerCase()) as DependencyCondition;
    if (!DEPENDENCY_CONDITIONS.includes(word)) {
      problems.add(`allocation.depends_on[${n}].condition`, "is not a condition", HINT);
    }
    return { ref, condition: word };
  });
}

export const dependencyToProto = ({ ref, condition }: Dependency): proto.Dependency =>
  create(DependencySchema, { ref, condition });

/** Whether the range makes sense is the core's to say. */
export const shapeFromProto = ({ start, end, step, concurrency }: TaskGroup): GroupShape => ({
  range: { start, end, step: step ?? 1 },
  concurrency: concurrency ?? null,
});

export const shapeToProto = ({ range, concurrency }: GroupShape): TaskGroup =>
  create(TaskGroupSchema, { ...range, ...(concurrency === null ? {} : { concurrency }) });
