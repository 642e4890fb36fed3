// Checks the members of a DAG: unique names, edges between members only, no cycle. Every fault is named. The API checks
// early to respond faster; `submit` always checks.

import type { FieldProblem } from "../../base/outcome.ts";
import { quote } from "../../base/outcome.ts";
import { isText, problemList } from "../checks.ts";
import type { Dependency } from "../spec/dependency.ts";
import type { DagMember } from "./dag.ts";
import { MAX_MEMBER_NAME_LENGTH } from "./dag.ts";
import { orderMembers } from "./order.ts";

type CheckedDag =
  | { readonly kind: "good"; readonly order: readonly number[] }
  | { readonly kind: "bad"; readonly problems: readonly FieldProblem[] };

export function checkDag(members: readonly DagMember[], maxMembers: number): CheckedDag {
  const size = sizeProblem(members.length, maxMembers);
  if (size !== null) return { kind: "bad", problems: [size] };
  const problems = nameProblems(members);
  if (problems.length > 0) return { kind: "bad", problems };
  const edges = edgeProblems(members);
  if (edges.length > 0) return { kind: "bad", problems: edges };
  const positions = new Map(members.map(({ name }, n) => [name, n]));
  const needs = members.map(({ spec }) => [
    ...new Set(ends(spec.dependsOn).map(({ ref }) => positions.get(ref) ?? -1)),
  ]);
  const order = orderMembers(needs);
  if (order.kind === "ordered") return { kind: "good", order: order.positions };
  const names = order.positions.map((n) => members[n]?.name ?? "");
  const shown = [...names, names[0] ?? ""].map(quote).join(" > ");
  return { kind: "bad", problems: [{ field: "allocations", detail: `the dependencies form a cycle: ${shown}` }] };
}

/** Edges that wait for an end. */
const ends = (edges: readonly Dependency[] = []): readonly Dependency[] =>
  edges.filter(({ condition }) => condition !== "mutex");

function sizeProblem(count: number, most: number): FieldProblem | null {
  if (count === 0) return { field: "allocations", detail: "must name at least one allocation" };
  if (count <= most) return null;
  return {
    field: "allocations",
    detail: `DAG exceeds maximum size (${count} allocations, limit: ${most})`,
    hint: "Split the workflow into smaller DAGs or increase the limit (scheduling.max_dag_size).",
  };
}

function nameProblems(members: readonly DagMember[]): readonly FieldProblem[] {
  const problems = problemList();
  const seen = new Map<string, number>();
  members.forEach(({ name }, n) => {
    const field = `allocations[${n}].name`;
    problems.unless(name !== "", field, "must be given: the name identifies a member of a DAG");
    const length = `must have at most ${MAX_MEMBER_NAME_LENGTH} characters, none of them NUL`;
    problems.unless(isText(name, MAX_MEMBER_NAME_LENGTH), field, length);
    const before = seen.get(name);
    if (before !== undefined) problems.add(field, `${quote(name)} is also the name of allocations[${before}]`);
    else seen.set(name, n);
  });
  return problems.list;
}

function edgeProblems(members: readonly DagMember[]): readonly FieldProblem[] {
  const problems = problemList();
  const names = new Set(members.map(({ name }) => name));
  members.forEach(({ name, spec }, n) => {
    (spec.dependsOn ?? []).forEach(({ ref, condition }, i) => {
      if (condition === "mutex") return;
      const field = `allocations[${n}].depends_on[${i}].ref`;
      problems.unless(ref !== name, field, `${quote(name)} depends on itself`);
      problems.unless(names.has(ref), field, `${quote(name)} depends on ${quote(ref)}, which is not in the DAG`);
    });
  });
  return problems.list;
}
