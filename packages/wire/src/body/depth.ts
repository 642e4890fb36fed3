// Refuses values nested deeper than anything a request needs, before code that recurses sees them.

import { ProblemError } from "../errors/problem.ts";

export function refuseDeep(value: unknown, maxDepth: number): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) {
      throw new ProblemError("malformed_body", { detail: `the body is nested more than ${maxDepth} deep` });
    }
    level = level.flatMap((item) =>
      typeof item === "object" && item !== null ? Object.values(item).filter(isNested) : [],
    );
  }
}

const isNested = (value: unknown): boolean => typeof value === "object" && value !== null;
