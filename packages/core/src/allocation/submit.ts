// A submission: refused with the field or the figures named, or given the next id and queued.
// A request that does not fit its quota now is accepted and waits; one that can never fit is not.

import type { SubmitCommand } from "../command.ts";
import type { AllocationId, Instant, TenantId } from "../ids.ts";
import { parseTenantId } from "../ids.ts";
import { invariant } from "../invariant.ts";
import { namedDomain, whyNoDomain, whyNotByName } from "../network/wanted.ts";
import type { Outcome, Refusal } from "../outcome.ts";
import { OWN_SESSION } from "../session/session.ts";
import type { View } from "../state/view.ts";
import { accepted, quote, refuse, refuseFields, rejected, type Step } from "../step.ts";
import { type Tenant, UNLIMITED } from "../tenant/tenant.ts";
import type { VCluster } from "../vcluster/vcluster.ts";
import type { Allocation } from "./allocation.ts";
import { checkSpec } from "./check.ts";
import { judgeAtOnce, unknownReferences } from "./dependents.ts";
import { MAX_PREEMPTION_CLASS } from "./limits.ts";
import { changed } from "./move.ts";
import { newRecord } from "./new-record.ts";
import type { AllocationSpec } from "./spec.ts";

export function submitAllocation(step: Step, command: SubmitCommand): Outcome {
  const { spec } = command;
  const refusal = admit(step, spec, command.createTenant);
  if (refusal !== null) return refusal;
  // Of a DAG it is asked when the turn comes: its members may come and go meanwhile.
  const wanted = namedDomain(spec);
  const barred = wanted === null ? null : whyNoDomain(step.state, wanted);
  if (barred !== null) return rejected(barred);
  const unknown = unknownReferences(step.state, spec);
  if (unknown.length > 0) return refuseFields(unknown);

  ensureTenant(step, spec.tenant);
  const made = { id: nextId(step), user: command.origin.user, spec, ...firstHold(step, command) };
  const record = addAllocation(step, made);
  return accepted(record.id);
}

/** Whether a specification may be taken at all, by itself and with the state as it is; null: it may. */
export function admit(step: Step, spec: AllocationSpec, createTenant: boolean): Outcome | null {
  const judged = judgeSubmission(step.state, { spec, createTenant }, step.at);
  return judged.kind === "rejected" ? judged : null;
}

export type Judged =
  | { readonly kind: "good"; readonly tenant: Tenant; readonly vcluster: VCluster }
  | Extract<Outcome, { readonly kind: "rejected" }>;

/** Whether a submission would be taken, without taking it: a trial run asks the same. */
export function judgeSubmission(
  view: Pick<View, "vcluster" | "vclusters" | "tenant" | "usage" | "version">,
  { spec, createTenant }: Pick<SubmitCommand, "spec" | "createTenant">,
  at: Instant,
): Judged {
  const problems = checkSpec(spec);
  if (problems.length > 0) return refusedBy(refuseFields(problems));
  const vcluster = view.vcluster(spec.vcluster);
  if (vcluster === undefined) return refusedBy(unknownVCluster(view, spec));
  const unnamed = whyNotByName(view, spec);
  if (unnamed !== null) {
    return refusedBy(refuseFields([{ field: "allocation.connectivity.network_domain", detail: unnamed }]));
  }
  const known = view.tenant(spec.tenant);
  if (known === undefined && !createTenant) {
    return refusedBy(refuse("unknown_tenant", `there is no tenant ${quote(spec.tenant)}`));
  }
  if (known === undefined && parseTenantId(spec.tenant) === null) {
    return refusedBy(refuseFields([{ field: "allocation.tenant", detail: "is not a name for a tenant" }]));
  }
  const tenant = known ?? automaticTenant(spec.tenant, at);
  const refusal = againstVCluster(spec, vcluster) ?? againstClass(spec, tenant) ?? againstQuota(view, spec, tenant);
  return refusal === null ? { kind: "good", tenant, vcluster } : { kind: "rejected", refusal };
}

const refusedBy = (outcome: Outcome): Judged => {
  invariant(outcome.kind === "rejected", "a refusal was accepted");
  return outcome;
};

/** Of a submission that is to wait until it is released. */
export const firstHold = (
  step: Step,
  { hold, origin }: Pick<SubmitCommand, "hold" | "origin">,
): Pick<Allocation, "hold"> => (hold === true ? { hold: { as: "user", by: origin.user, since: step.at } } : {});

export function nextId(step: Step): AllocationId {
  const id = String(step.state.counters.nextAllocation) as AllocationId;
  step.state.counters.nextAllocation += 1;
  return id;
}

/** Queues it, or lets it wait for what it depends on. */
export function addAllocation(step: Step, made: Pick<Allocation, "id" | "user" | "spec" | "dag" | "hold">): Allocation {
  const edges = made.spec.dependsOn ?? [];
  const fresh = newRecord(step, { ...made, submittedAt: step.at });
  const plain = made.hold === undefined ? fresh : { ...fresh, hold: made.hold };
  const isPlain = edges.length === 0 && made.spec.session !== true;
  const record: Allocation = isPlain
    ? plain
    : {
        ...plain,
        ...(edges.length === 0 ? {} : { unmet: edges.map((_, n) => n) }),
        ...(made.spec.session === true ? { sessions: [{ n: OWN_SESSION, user: made.user, openedAt: step.at }] } : null),
      };
  step.state.putAllocation(record);
  step.events.push(changed(record, ""));
  if (edges.length > 0) judgeAtOnce(step, record);
  return record;
}

function unknownVCluster(view: Pick<View, "vclusters">, spec: AllocationSpec): Outcome {
  const names = Array.from(view.vclusters(), (vcluster) => vcluster.id);
  const available = names.length === 0 ? "there are none yet" : `available: ${names.join(", ")}`;
  return refuse("unknown_vcluster", `there is no vCluster ${quote(spec.vcluster)} (${available})`);
}

/** Also asked when an allocation is updated. */
export function againstVCluster(spec: AllocationSpec, vcluster: VCluster): Refusal | null {
  if (vcluster.tenant !== null && vcluster.tenant !== spec.tenant) {
    const detail = `vCluster "${vcluster.id}" belongs to tenant "${vcluster.tenant}", not to ${quote(spec.tenant)}`;
    return { code: "tenant_mismatch", detail };
  }
  const { walltime } = spec.lifecycle;
  const most = vcluster.maxWalltime;
  if (most === null || (walltime !== null && walltime <= most)) return null;
  const field = "allocation.lifecycle.walltime_seconds";
  const asked = walltime === null ? "unbounded work" : `${walltime / 1000} s`;
  const detail = `vCluster "${vcluster.id}" allows at most ${most / 1000} s, requested ${asked}`;
  return { code: "invalid_argument", detail: `${field}: ${detail}`, fields: [{ field, detail }] };
}

/** Likewise. */
export function againstClass(spec: AllocationSpec, tenant: Tenant): Refusal | null {
  const { preemptionClass } = spec.lifecycle;
  if (preemptionClass <= tenant.maxPreemptionClass) return null;
  const field = "allocation.lifecycle.preemption_class";
  const detail = `tenant "${tenant.id}" allows at most class ${tenant.maxPreemptionClass}, requested ${preemptionClass}`;
  return { code: "invalid_argument", detail: `${field}: ${detail}`, fields: [{ field, detail }] };
}

/** Servers before do not say how much is in use, and answers are kept with the ids of requests. */
const USE_VERSION = 2;

/** What can never fit; what does not fit now is accepted and waits. */
function againstQuota(view: Pick<View, "usage" | "version">, spec: AllocationSpec, tenant: Tenant): Refusal | null {
  const { maxNodes, maxConcurrentAllocations } = tenant.quota;
  const { minNodes } = spec.resources;
  const used = view.version < USE_VERSION ? null : view.usage(tenant.id);
  if (maxNodes !== null && minNodes > maxNodes) {
    return overQuota(tenant, "max_nodes", { limit: maxNodes, requested: minNodes }, used?.nodes);
  }
  if (maxConcurrentAllocations === 0) {
    return overQuota(tenant, "max_concurrent_allocations", { limit: 0, requested: 1 }, used?.running);
  }
  return null;
}

function overQuota(
  { id }: Tenant,
  quota: string,
  asked: { readonly limit: number; readonly requested: number },
  current: number | undefined,
): Refusal {
  const { limit, requested } = asked;
  const inUse = current === undefined ? "" : `, in use ${current}`;
  const detail = `tenant "${id}" would exceed its ${quota} quota (limit ${limit}${inUse}, requested ${requested})`;
  return { code: "quota_exceeded", detail, figures: { ...asked, ...(current === undefined ? {} : { current }) } };
}

const automaticTenant = (id: TenantId, createdAt: Instant): Tenant => ({
  id,
  description: "",
  quota: UNLIMITED,
  maxPreemptionClass: MAX_PREEMPTION_CLASS,
  createdAt,
  automatic: true,
});

/** The first submission of a tenant that nobody made makes it. */
export function ensureTenant(step: Step, id: TenantId): void {
  if (step.state.tenant(id) !== undefined) return;
  const tenant = automaticTenant(id, step.at);
  step.state.tables.tenants.set(tenant.id, tenant);
  step.events.push({ kind: "tenant_changed", tenant: tenant.id, from: "", to: "created", reason: "first submission" });
}
