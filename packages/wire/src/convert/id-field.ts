// Parses the ids of a submission; a problem names the field.

import type { NodeId, TenantId, VClusterId } from "@lattice/core";
import type { FieldList } from "../errors/field-list.ts";

interface IdField<Id> {
  readonly field: string;
  readonly parse: (text: string) => Id | null;
  readonly problems: FieldList;
}

export function idOf<Id extends TenantId | VClusterId | NodeId>(
  text: string,
  { field, parse, problems }: IdField<Id>,
): Id {
  const id = parse(text);
  if (id !== null) return id;
  if (text === "") problems.add(field, "must be given");
  else problems.add(field, "is not a valid name", "Use up to 63 letters, digits, `.`, `_` and `-`.");
  // Never used: the problem noted above is thrown before the spec is complete.
  return text as Id;
}
