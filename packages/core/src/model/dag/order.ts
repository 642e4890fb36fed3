// Sorts the members of a DAG so that each follows its dependencies, as close to the written order as possible, so that
// equal submissions get equal ids. Returns the members of a cycle if there is one.

import { createOrdered } from "../../base/ordered.ts";

type DagOrder =
  | { readonly kind: "ordered"; readonly positions: readonly number[] }
  | { readonly kind: "cycle"; readonly positions: readonly number[] };

/** `needs[i]` are the positions that member i depends on. Linear in members and edges. */
export function orderMembers(needs: readonly (readonly number[])[]): DagOrder {
  const waiting = needs.map((list) => list.length);
  const dependents: number[][] = needs.map(() => []);
  needs.forEach((list, n) => {
    for (const needed of list) dependents[needed]?.push(n);
  });
  const free = createOrdered<number>((a, b) => a - b);
  waiting.forEach((count, n) => {
    if (count === 0) free.add(n);
  });
  const positions: number[] = [];
  for (;;) {
    const [next] = free;
    if (next === undefined) break;
    free.delete(next);
    positions.push(next);
    for (const dependent of dependents[next] ?? []) {
      const left = (waiting[dependent] ?? 0) - 1;
      waiting[dependent] = left;
      if (left === 0) free.add(dependent);
    }
  }
  if (positions.length === needs.length) return { kind: "ordered", positions };
  return { kind: "cycle", positions: cycleAmong(needs, new Set(positions)) };
}

/** Every remaining member depends on a remaining one, so following dependencies finds a cycle. */
function cycleAmong(needs: readonly (readonly number[])[], done: ReadonlySet<number>): readonly number[] {
  let at = needs.findIndex((_, n) => !done.has(n));
  const path: number[] = [];
  while (!path.includes(at)) {
    path.push(at);
    at = needs[at]?.find((needed) => !done.has(needed)) ?? at;
  }
  // From dependency to dependent.
  return path.slice(path.indexOf(at)).reverse();
}
