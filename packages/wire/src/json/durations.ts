// The text form of durations: `walltime: 4h` for `walltime_seconds: 14400`, in bodies and queries. It is derived from
// the name and type of a field, so that it exists for every request.

import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";

const SUFFIX = "_seconds";

/** Returns the name without its unit, or null when the field is no duration or the name is taken. */
export function durationName(field: DescField): string | null {
  const { name, parent, fieldKind, scalar } = field;
  if (fieldKind !== "scalar" || scalar !== ScalarType.UINT32 || !name.endsWith(SUFFIX)) return null;
  const short = name.slice(0, -SUFFIX.length);
  return parent.fields.some((other) => other.name === short) ? null : short;
}

/** Returns the durations of a message by that name. */
export const durationsOf = (schema: DescMessage): ReadonlyMap<string, DescField> =>
  new Map(
    schema.fields.flatMap((field) => {
      const name = durationName(field);
      return name === null ? [] : [[name, field] as const];
    }),
  );
