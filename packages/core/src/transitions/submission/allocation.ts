// Adds one allocation to the state: gives it an id, queues it, or lets it wait for its dependencies. Used for single
// submissions and for the members of a DAG.

import type { AllocationId, TenantId } from "../../base/ids.ts";
import { allocationIdOf } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { newAllocation } from "../../model/allocation/new-allocation.ts";
import type { Origin } from "../../model/origin.ts";
import { OWN_SESSION } from "../../model/session/session.ts";
import type { AllocationSpec } from "../../model/spec/spec.ts";
import { automaticTenant, judgeSubmission } from "../../queries/admission.ts";
import { allocationChanged } from "../allocation/move.ts";
import { judgeDependencies } from "../settle/dependents.ts";
import type { Step } from "../step.ts";

/** Returns why a specification is refused, by itself or in the current state; `null` when it is acceptable. */
export function admit(step: Step, spec: AllocationSpec, createTenant: boolean): Outcome | null {
  const judged = judgeSubmission(step.state, { spec, createTenant }, step.at);
  return judged.kind === "rejected" ? judged : null;
}

/** For a submission on hold. */
export const firstHold = (
  step: Step,
  { hold, origin }: { readonly hold?: boolean; readonly origin: Origin },
): Pick<Allocation, "hold"> => (hold === true ? { hold: { as: "user", by: origin.user, since: step.at } } : {});

export function nextId(step: Step): AllocationId {
  const id = allocationIdOf(step.state.counters.nextAllocation);
  step.state.counters.nextAllocation += 1;
  return id;
}

/** Queues it, or lets it wait for what it depends on. */
export function addAllocation(step: Step, made: Pick<Allocation, "id" | "user" | "spec" | "dag" | "hold">): Allocation {
  const edges = made.spec.dependsOn ?? [];
  const { spec, user, hold } = made;
  const record: Allocation = {
    ...newAllocation({ ...made, submittedAt: step.at }, step),
    ...(hold && { hold }),
    unmet: edges.map((_, n) => n),
    sessions: spec.session === true ? [{ n: OWN_SESSION, user, openedAt: step.at }] : [],
  };
  step.state.putAllocation(record);
  step.events.push(allocationChanged(record, ""));
  if (edges.length > 0) judgeDependencies(step, record);
  return record;
}

/** The first submission of an unknown tenant creates it. */
export function ensureTenant(step: Step, id: TenantId): void {
  if (step.state.tenant(id) !== undefined) return;
  const tenant = automaticTenant(id, step.at);
  step.state.tables.tenants.set(tenant.id, tenant);
  step.events.push({ kind: "tenant_changed", tenant: tenant.id, from: "", to: "created", reason: "first submission" });
}
