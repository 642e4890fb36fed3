// The DAG record: allocations and groups submitted together, with their dependencies. Its state follows from how its
// members ended, so only that is stored.

import type { AllocationId, DagId, Instant, TenantId, UserName } from "../../base/ids.ts";
import type { GroupShape } from "../group/group.ts";
import type { DependencyCondition, EndKind } from "../spec/dependency.ts";
import type { AllocationSpec } from "../spec/spec.ts";

/** The upper bound of the configured limit. */
export const MAX_DAG_MEMBERS = 10_000;
/** The default of the configured limit. */
export const DEFAULT_DAG_MEMBERS = 1_000;
export const MAX_MEMBER_NAME_LENGTH = 128;
/** Finished DAGs that are always kept; beyond them only those with members outside the history. */
export const DAG_RETENTION = 1_000;

interface DagEdge {
  /** Name of a member, or of a mutex. */
  readonly ref: string;
  readonly condition: DependencyCondition;
}

export interface DagNode {
  readonly name: string;
  readonly id: AllocationId;
  readonly needs: readonly DagEdge[];
}

/** How a member ended; "skipped" means cancelled because of its dependencies. */
export type MemberEnd = EndKind | "skipped";

/** One character per member: not ended, completed, failed, cancelled, skipped. */
export const MEMBER_MARKS: Readonly<Record<MemberEnd, string>> = {
  completed: "c",
  failed: "f",
  cancelled: "x",
  skipped: "s",
};
export const MEMBER_OPEN = ".";

export interface Dag {
  readonly id: DagId;
  readonly name: string;
  readonly user: UserName;
  readonly tenant: TenantId;
  readonly submittedAt: Instant;
  /** In the order of their ids, each after its dependencies. */
  readonly members: readonly DagNode[];
  /** One mark per member. */
  readonly ends: string;
  /** `null` while a member has not ended. */
  readonly endedAt: Instant | null;
}

export type DagState = "running" | "completed" | "failed" | "cancelled";

const ENDS = new Map<string, MemberEnd>(Object.entries(MEMBER_MARKS).map(([end, mark]) => [mark, end as MemberEnd]));

/** Returns `null` while the member has not ended. */
export const memberEnd = (dag: Dag, n: number): MemberEnd | null => ENDS.get(dag.ends[n] ?? MEMBER_OPEN) ?? null;

/** A failure is handled by a member that runs because of it, or in spite of it. */
export function dagState(dag: Dag): DagState {
  if (dag.ends.includes(MEMBER_OPEN)) return "running";
  const caught = new Set<string>();
  for (const { needs } of dag.members) {
    for (const { ref, condition } of needs) if (condition === "failure" || condition === "any") caught.add(ref);
  }
  const uncaught = dag.members.some(({ name }, n) => memberEnd(dag, n) === "failed" && !caught.has(name));
  if (uncaught) return "failed";
  return dag.ends.includes(MEMBER_MARKS.cancelled) ? "cancelled" : "completed";
}

/** One step of a DAG. The references of its dependencies are names of members. */
export interface DagMember {
  readonly name: string;
  readonly spec: AllocationSpec;
  /** `null` for a single allocation. */
  readonly group: GroupShape | null;
}
