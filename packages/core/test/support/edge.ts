// "12:success" as a dependency.

import type { Dependency, DependencyCondition } from "@lattice/core";

export const edge = (text: string): Dependency => {
  const [ref = "", condition = "success"] = text.split(":");
  return { ref, condition: condition as DependencyCondition };
};
