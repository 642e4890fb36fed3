// Dependencies: the end of another allocation under one of four conditions, or a mutex name. An edge is evaluated once,
// when its target has ended; this file defines how.

export const DEPENDENCY_CONDITIONS = ["success", "failure", "any", "corresponding", "mutex"] as const;
export type DependencyCondition = (typeof DEPENDENCY_CONDITIONS)[number];

export interface Dependency {
  /** Id of an allocation, a task group or an element; for mutex the name. */
  readonly ref: string;
  readonly condition: DependencyCondition;
}

/** The possible ends. */
export type EndKind = "completed" | "failed" | "cancelled";

/** The end of a dependent that can never run. */
export const DEPENDENCY_FAILED = "dependency_failed";

/** More than the largest DAG has members to wait for. */
export const MAX_DEPENDENCIES = 1_000;
export const MAX_MUTEX_NAME_LENGTH = 128;

/**
 * Returns the conditions still unmet once `ref` has ended in this state, or "dead" when the dependent can never run. Several
 * failure edges are alternatives: one that is met meets all, and only the last that is dead kills.
 */
export function judgeEnd(
  edges: readonly Dependency[],
  unmet: readonly number[],
  ref: string,
  end: EndKind,
): readonly number[] | "dead" {
  let left = unmet;
  const isFailure = (n: number): boolean => edges[n]?.condition === "failure";
  for (const n of unmet) {
    const edge = edges[n];
    if (edge?.ref !== ref || edge.condition === "mutex" || !left.includes(n)) continue;
    if (edge.condition === "failure" && end !== "completed") {
      left = left.filter((other) => !isFailure(other));
      continue;
    }
    if (edge.condition !== "any" && edge.condition !== "failure" && end !== "completed") return "dead";
    left = left.filter((other) => other !== n);
    if (edge.condition === "failure" && !left.some(isFailure)) return "dead";
  }
  return left;
}

/** Returns the mutex names among these edges, in the order in which they are taken, which excludes deadlocks. */
export function mutexEdges(edges: readonly Dependency[], among: readonly number[]): readonly number[] {
  const named = among.filter((n) => edges[n]?.condition === "mutex");
  return named.sort((a, b) => {
    const [one, other] = [edges[a]?.ref ?? "", edges[b]?.ref ?? ""];
    return one < other ? -1 : one > other ? 1 : a - b;
  });
}
