// Merges two submissions in short form; the second wins: flags of the caller over directives of a script. Synonymous
// fields are replaced together, so that `--walltime` wins over a script's `walltime_hours` instead of conflicting with
// it. Variables, tags and constraints are merged one by one.

import { isObject, type Json, type JsonObject } from "../json/value.ts";
import { CONSTRAINT_KEYS, putConstraint, putConstraints } from "./constraints.ts";
import { Draft } from "./draft.ts";

const SAME: readonly (readonly string[])[] = [
  ["entrypoint", "command", "script"],
  ["walltime", "walltime_hours", "walltime_seconds"],
  ["preemption_class", "priority"],
  ["requeue", "requeue_policy"],
  ["type", "service", "reactive"],
];

const MAPS: readonly string[] = ["env", "tags", "constraints"];

/** Throws a ProblemError when a constraint cannot be read. */
export function mergeSubmissions(base: JsonObject, override: JsonObject): JsonObject {
  const out = folded(base);
  for (const [name, value] of Object.entries(folded(override))) {
    const under = out[name];
    for (const other of SAME.find((names) => names.includes(name)) ?? []) delete out[other];
    out[name] = MAPS.includes(name) && isObject(under) && isObject(value) ? { ...under, ...value } : value;
  }
  return out;
}

/** Unifies a submission: all constraints in one object, all variables under one name, no null values. */
function folded(submission: JsonObject): Record<string, Json> {
  const out: Record<string, Json> = {};
  const draft = new Draft();
  for (const [name, value] of Object.entries(submission)) {
    if (value === null) continue;
    if (name === "constraints" || name === "constraint") putConstraints(draft, value, name);
    else if (CONSTRAINT_KEYS.includes(name)) putConstraint(draft, { name, item: value, from: name });
    else out[name === "variables" ? "env" : name] = value;
  }
  draft.problems.throwIfAny();
  const { resources } = draft.build();
  if (isObject(resources) && resources.constraints !== undefined) out.constraints = resources.constraints;
  return out;
}
