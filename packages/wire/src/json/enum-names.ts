// Enum values in JSON: lower case without the prefix ("running", "hpc_backfill"). Parsing accepts any case, the prefix,
// and `-` for `_`.

import type { DescEnum } from "@bufbuild/protobuf";

interface EnumNames {
  /** Without the unspecified value, which JSON does not show. */
  readonly byNumber: ReadonlyMap<number, string>;
  readonly byName: ReadonlyMap<string, number>;
  /** The names as shown, in order. */
  readonly names: readonly string[];
}

const cache = new WeakMap<DescEnum, EnumNames>();

export const enumName = (desc: DescEnum, number: number): string | undefined => namesOf(desc).byNumber.get(number);

export function enumNumber(desc: DescEnum, text: string): number | undefined {
  const { byName } = namesOf(desc);
  return byName.get(text) ?? byName.get(text.toLowerCase().replace(/-/g, "_"));
}

export const enumNames = (desc: DescEnum): readonly string[] => namesOf(desc).names;

function namesOf(desc: DescEnum): EnumNames {
  const known = cache.get(desc);
  if (known !== undefined) return known;
  const byNumber = new Map<number, string>();
  const byName = new Map<string, number>();
  const prefix = desc.sharedPrefix?.length ?? 0;
  for (const value of desc.values) {
    const short = value.name.slice(prefix).toLowerCase();
    // Zero means "unspecified" and has no name.
    if (value.number === 0) continue;
    byNumber.set(value.number, short);
    byName.set(short, value.number);
    byName.set(value.name.toLowerCase(), value.number);
  }
  const made = { byNumber, byName, names: [...byNumber.values()] };
  cache.set(desc, made);
  return made;
}
