// Checks the form of dependencies. Whether their targets exist is checked against the state at submission.

import { isText, type Problems } from "../checks.ts";
import { DEPENDENCY_CONDITIONS, type Dependency, MAX_DEPENDENCIES, MAX_MUTEX_NAME_LENGTH } from "./dependency.ts";

export function checkDependencies(problems: Problems, edges: readonly Dependency[]): void {
  const most = `must not have more than ${MAX_DEPENDENCIES} entries`;
  problems.unless(edges.length <= MAX_DEPENDENCIES, "allocation.depends_on", most);
  const names = new Set<string>();
  for (const [n, { ref, condition }] of edges.slice(0, MAX_DEPENDENCIES).entries()) {
    const field = `allocation.depends_on[${n}]`;
    const known = (DEPENDENCY_CONDITIONS as readonly string[]).includes(condition);
    problems.unless(known, `${field}.condition`, `must be one of ${DEPENDENCY_CONDITIONS.join(", ")}`);
    problems.unless(ref !== "", `${field}.ref`, "must be given");
    const length = `must have at most ${MAX_MUTEX_NAME_LENGTH} characters, none of them NUL`;
    problems.unless(isText(ref, MAX_MUTEX_NAME_LENGTH), `${field}.ref`, length);
    if (condition !== "mutex") continue;
    problems.unless(!names.has(ref), `${field}.ref`, "names the same mutex twice");
    names.add(ref);
  }
}
