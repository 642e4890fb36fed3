// Converts the dependencies of a submission in both directions.

import { create } from "@bufbuild/protobuf";
import { DEPENDENCY_CONDITIONS, type Dependency, type DependencyCondition } from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/allocations_pb.ts";
import { DependencySchema } from "../../gen/lattice/v1/allocations_pb.ts";
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
