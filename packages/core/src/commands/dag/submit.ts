// dag.submit: submits all members of a DAG, or none. Each becomes an ordinary allocation or group whose dependencies
// name ids; the record maps names to ids.

import type { AllocationId, TenantId } from "../../base/ids.ts";
import { dagIdOf } from "../../base/ids.ts";
import { present } from "../../base/invariant.ts";
import type { FieldProblem, Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuseFields, rejected } from "../../base/outcome.ts";

import { checkDag } from "../../model/dag/check.ts";
import type { DagMember } from "../../model/dag/dag.ts";
import { type DagNode, MAX_DAG_MEMBERS, MAX_MEMBER_NAME_LENGTH, MEMBER_OPEN } from "../../model/dag/dag.ts";
import { checkShape } from "../../model/group/check.ts";
import { MAX_COUNTERPARTS } from "../../model/group/group.ts";
import type { Origin } from "../../model/origin.ts";
import type { Step } from "../../transitions/step.ts";
import { addAllocation, admit, ensureTenant, nextId } from "../../transitions/submission/allocation.ts";
import { addGroup } from "../../transitions/submission/group.ts";

export interface SubmitDagCommand {
  readonly kind: "dag.submit";
  readonly origin: Origin;
  readonly name: string;
  readonly members: readonly DagMember[];
  readonly createTenant: boolean;
  /** From configuration. */
  readonly maxMembers: number;
}

export function submitDag(step: Step, command: SubmitDagCommand): Outcome {
  const { members, createTenant } = command;
  const checked = checkDag(members, Math.min(command.maxMembers, MAX_DAG_MEMBERS));
  if (checked.kind === "bad") return refuseFields(checked.problems);
  if (command.name.length > MAX_MEMBER_NAME_LENGTH || command.name.includes("\0")) {
    return refuseFields([{ field: "name", detail: `must have at most ${MAX_MEMBER_NAME_LENGTH} characters` }]);
  }
  const tenant = present(members[0], "a DAG without members was not refused").spec.tenant;
  for (const [n, member] of members.entries()) {
    const refusal = memberRefusal(step, member, tenant, createTenant);
    if (refusal !== null) return inMember(refusal, member, n);
  }

  ensureTenant(step, tenant);
  addDag(step, command, checked.order);
  return accepted(`dag-${step.state.counters.nextAllocation - members.length - 1}`);
}

function memberRefusal(step: Step, member: DagMember, tenant: TenantId, createTenant: boolean): Outcome | null {
  const { spec, group } = member;
  if (spec.tenant !== tenant) {
    return refuseFields([{ field: "allocation.tenant", detail: `the members of a DAG have one tenant (${tenant})` }]);
  }
  const shape = group === null ? [] : checkShape(group);
  if (shape.length > 0) return refuseFields(shape);
  const twins = new Set(
    (spec.dependsOn ?? []).flatMap((edge) => (edge.condition === "corresponding" ? [edge.ref] : [])),
  );
  if (group !== null && twins.size > MAX_COUNTERPARTS) {
    const detail = `must not name more than ${MAX_COUNTERPARTS} members with the condition corresponding`;
    return refuseFields([{ field: "allocation.depends_on", detail }]);
  }
  return admit(step, spec, createTenant);
}

/** Turns the refusal of a member into the refusal of the DAG. */
function inMember(outcome: Outcome, member: DagMember, n: number): Outcome {
  if (outcome.kind !== "rejected") return outcome;
  const { refusal } = outcome;
  const renamed = (problem: FieldProblem): FieldProblem => ({
    ...problem,
    field: problem.field.replace(/^allocation\b/, `allocations[${n}]`),
  });
  if (refusal.fields !== undefined) return refuseFields(refusal.fields.map(renamed));
  return rejected({ ...refusal, detail: `${quote(member.name)}: ${refusal.detail}` });
}

function addDag(step: Step, { members, origin, name }: SubmitDagCommand, order: readonly number[]): void {
  const dag = dagIdOf(Number(nextId(step)));
  const ids = new Map<string, AllocationId>();
  const nodes: DagNode[] = [];
  for (const n of order) {
    const member = present(members[n], `member ${n} of a DAG is missing`);
    const id = nextId(step);
    ids.set(member.name, id);
    nodes.push({ name: member.name, id, needs: member.spec.dependsOn ?? [] });
  }
  const tenant = present(members[0], "a DAG has no members").spec.tenant;
  const open = MEMBER_OPEN.repeat(nodes.length);
  step.state.putDag({
    id: dag,
    name,
    user: origin.user,
    tenant,
    submittedAt: step.at,
    members: nodes,
    ends: open,
    endedAt: null,
  });
  for (const [place, n] of order.entries()) {
    const member = present(members[n], `member ${n} of a DAG is missing`);
    const made = {
      id: present(nodes[place], "a member has no id").id,
      user: origin.user,
      spec: byId(member, ids),
      dag,
    };
    if (member.group === null) addAllocation(step, made);
    else addGroup(step, made, member.group);
  }
  step.events.push({
    kind: "dag_changed",
    dag,
    tenant,
    user: origin.user,
    from: "",
    to: "running",
    reason: "submitted",
  });
}

/** Uses the member's name unless the spec has its own; its dependencies name ids. */
function byId({ name, spec }: DagMember, ids: ReadonlyMap<string, AllocationId>): DagMember["spec"] {
  const named = spec.name === "" ? { ...spec, name } : spec;
  if (spec.dependsOn === undefined) return named;
  return {
    ...named,
    dependsOn: spec.dependsOn.map((edge) =>
      edge.condition === "mutex" ? edge : { ...edge, ref: ids.get(edge.ref) ?? edge.ref },
    ),
  };
}
