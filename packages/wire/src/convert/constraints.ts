// Converts constraints from and to the contract, field by field of the table in core. The names in the contract are those
// of the submission, so a new constraint needs no line here unless its value is of a new kind.

import { create } from "@bufbuild/protobuf";
import {
  CONSTRAINT_FIELDS,
  CONSTRAINT_NAMES,
  type ConstraintName,
  type Constraints,
  NO_CONSTRAINTS,
  parseNodeId,
} from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/allocations_pb.ts";
import { ConstraintsSchema, Topology } from "../../gen/lattice/v1/allocations_pb.ts";
import type { FieldList } from "../errors/field-list.ts";
import { bytesToGb, gbToBytes, isUsableGb } from "./amounts.ts";
import { idOf } from "./id-field.ts";

type Kind = (typeof CONSTRAINT_FIELDS)[ConstraintName]["kind"];

/** How the two sides write a value of one kind. */
interface Conversion {
  /** `path` is the field that a problem names. */
  readonly fromProto: (value: never, path: string, problems: FieldList) => unknown;
  readonly toProto: (value: never) => unknown;
}

const UNCHANGED: Conversion = { fromProto: (value) => value, toProto: (value) => value };

const CONVERSIONS: Readonly<Record<Kind, Conversion>> = {
  text: UNCHANGED,
  least: UNCHANGED,
  most: UNCHANGED,
  flag: UNCHANGED,
  list: { fromProto: (list: readonly string[]) => list, toProto: (list: readonly string[]) => [...list] },
  nodes: {
    fromProto: (list: readonly string[], path, problems) =>
      list.map((text, i) => idOf(text, { field: `${path}[${i}]`, parse: parseNodeId, problems })),
    toProto: (list: readonly string[]) => [...list],
  },
  gigabytes: {
    fromProto: (gb: number, path, problems) => {
      if (isUsableGb(gb)) return gbToBytes(gb);
      problems.add(path, "must be a number of GiB, 0 or more");
      return 0;
    },
    toProto: bytesToGb,
  },
  topology: {
    fromProto: (value: Topology): Constraints["topology"] => (value === Topology.TIGHT ? "tight" : "any"),
    toProto: (value: Constraints["topology"]) => (value === "tight" ? Topology.TIGHT : Topology.ANY),
  },
  // Checked with the rest of the specification.
  memory_policy: { fromProto: (text: string) => text.toLowerCase(), toProto: (policy: string) => policy },
};

/** Every constraint with its field of the message. */
const ROWS = CONSTRAINT_NAMES.map((name) => {
  const { name: field, kind } = CONSTRAINT_FIELDS[name];
  return { name, field, ...CONVERSIONS[kind], local: localNameOf(field) };
});

function localNameOf(field: string): string {
  const found = ConstraintsSchema.fields.find(({ name }) => name === field);
  if (found === undefined) throw new Error(`message Constraints has no field ${field}`);
  return found.localName;
}

const PATH = "allocation.resources.constraints";

/** A value that is empty in the contract takes its default. */
export function constraintsFromProto(message: proto.Constraints | undefined, problems: FieldList): Constraints {
  const values: Readonly<Record<string, unknown>> = { ...message };
  const given: Record<string, unknown> = {};
  for (const { name, field, local, fromProto } of ROWS) {
    const value = values[local];
    if (!isEmpty(value)) given[name] = fromProto(value as never, `${PATH}.${field}`, problems);
  }
  return { ...NO_CONSTRAINTS, ...(given satisfies Partial<Record<ConstraintName, unknown>>) };
}

export function constraintsToProto(constraints: Constraints): proto.Constraints {
  const values: Record<string, unknown> = {};
  for (const { name, local, toProto } of ROWS) {
    const value = constraints[name] ?? null;
    if (value !== null) values[local] = toProto(value as never);
  }
  return create(ConstraintsSchema, values);
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === "" || value === 0 || value === false || (Array.isArray(value) && value.length === 0);
