// Every duration of the contract has a second spelling: `walltime: 4h` for `walltime_seconds: 14400`, in bodies and in
// queries alike. It follows from the name and type of the field, so that no request can be forgotten.

import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";

const SUFFIX = "_seconds";

/** The spelling without its unit; null: it has none, or the name means something else in this message. */
export function durationName(field: DescField): string | null {
  const { name, parent, fieldKind, scalar } = field;
  if (fieldKind !== "scalar" || scalar !== ScalarType.UINT32 || !name.endsWith(SUFFIX)) return null;
  const short = name.slice(0, -SUFFIX.length);
  return parent.fields.some((other) => other.name === short) ? null : short;
}

/** Those of a message, by that spelling. */
export const durationsOf = (schema: DescMessage): ReadonlyMap<string, DescField> =>
  new Map(
    schema.fields.flatMap((field) => {
      const name = durationName(field);
      return name === null ? [] : [[name, field] as const];
    }),
  );
