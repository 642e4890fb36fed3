// Enum values as JSON shows them: lower case, without the prefix ("running", "hpc_backfill").
// Reading takes any case, the prefix or not, and `-` for `_`.

import type { DescEnum } from "@bufbuild/protobuf";

interface EnumNames {
  /** Without the unspecified value, which JSON does not show. */
  readonly byNumber: ReadonlyMap<number, string>;
  readonly byName: ReadonlyMap<string, number>;
  /** As shown, in order. */
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
    // Zero means "not given" in this contract; it has no spelling.
    if (value.number === 0) continue;
    byNumber.set(value.number, short);
    byName.set(short, value.number);
    byName.set(value.name.toLowerCase(), value.number);
  }
  const made = { byNumber, byName, names: [...byNumber.values()] };
  cache.set(desc, made);
  return made;
}
