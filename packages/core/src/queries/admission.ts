// Whether a submission is acceptable: its spec, its vCluster, its tenant and its quota. A request that does not fit
// the quota now is accepted and waits; one that can never fit is refused. The same check serves submissions and
// dry runs.

import type { Instant, TenantId } from "../base/ids.ts";
import { parseTenantId } from "../base/ids.ts";
import { invariant } from "../base/invariant.ts";
import type { Outcome, Refusal } from "../base/outcome.ts";
import { quote, refuse, refuseFields } from "../base/outcome.ts";
import { checkSpec } from "../model/spec/check.ts";
import { MAX_PREEMPTION_CLASS } from "../model/spec/limits.ts";
import type { AllocationSpec } from "../model/spec/spec.ts";
import { type Tenant, UNLIMITED } from "../model/tenant/tenant.ts";
import type { VCluster } from "../model/vcluster/vcluster.ts";
import type { View } from "../state/view.ts";
import { namedDomainProblem } from "./network-domain.ts";

interface Submission {
  readonly spec: AllocationSpec;
  /** From configuration: `apply` creates an unknown tenant instead of refusing it. */
  readonly createTenant: boolean;
}

type Admission =
  | { readonly kind: "good"; readonly tenant: Tenant; readonly vcluster: VCluster }
  | Extract<Outcome, { readonly kind: "rejected" }>;

/** Returns whether a submission is acceptable, without changing the state. */
export function judgeSubmission(
  view: Pick<View, "vcluster" | "vclusters" | "tenant" | "usage">,
  { spec, createTenant }: Submission,
  at: Instant,
): Admission {
  const problems = checkSpec(spec);
  if (problems.length > 0) return refusedBy(refuseFields(problems));
  const vcluster = view.vcluster(spec.vcluster);
  if (vcluster === undefined) return refusedBy(unknownVCluster(view, spec));
  const unnamed = namedDomainProblem(view, spec);
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
  const refusal = vclusterRefusal(spec, vcluster) ?? classRefusal(spec, tenant) ?? againstQuota(view, spec, tenant);
  return refusal === null ? { kind: "good", tenant, vcluster } : { kind: "rejected", refusal };
}

const refusedBy = (outcome: Outcome): Admission => {
  invariant(outcome.kind === "rejected", "a refusal was accepted");
  return outcome;
};

function unknownVCluster(view: Pick<View, "vclusters">, spec: AllocationSpec): Outcome {
  const names = Array.from(view.vclusters(), (vcluster) => vcluster.id);
  const available = names.length === 0 ? "there are none yet" : `available: ${names.join(", ")}`;
  return refuse("unknown_vcluster", `there is no vCluster ${quote(spec.vcluster)} (${available})`);
}

/** Also checked on update. */
export function vclusterRefusal(spec: AllocationSpec, vcluster: VCluster): Refusal | null {
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

/** Also checked on update. */
export function classRefusal(spec: AllocationSpec, tenant: Tenant): Refusal | null {
  const { preemptionClass } = spec.lifecycle;
  if (preemptionClass <= tenant.maxPreemptionClass) return null;
  const field = "allocation.lifecycle.preemption_class";
  const detail = `tenant "${tenant.id}" allows at most class ${tenant.maxPreemptionClass}, requested ${preemptionClass}`;
  return { code: "invalid_argument", detail: `${field}: ${detail}`, fields: [{ field, detail }] };
}

/** Returns why the work can never fit; work that does not fit now is accepted and waits. */
function againstQuota(view: Pick<View, "usage">, spec: AllocationSpec, tenant: Tenant): Refusal | null {
  const { maxNodes, maxConcurrentAllocations } = tenant.quota;
  const { minNodes } = spec.resources;
  const used = view.usage(tenant.id);
  if (maxNodes !== null && minNodes > maxNodes) {
    return overQuota(tenant, "max_nodes", { limit: maxNodes, requested: minNodes }, used.nodes);
  }
  if (maxConcurrentAllocations === 0) {
    return overQuota(tenant, "max_concurrent_allocations", { limit: 0, requested: 1 }, used.running);
  }
  return null;
}

function overQuota(
  { id }: Tenant,
  quota: string,
  asked: { readonly limit: number; readonly requested: number },
  current: number,
): Refusal {
  const { limit, requested } = asked;
  const detail = `tenant "${id}" would exceed its ${quota} quota (limit ${limit}, in use ${current}, requested ${requested})`;
  return { code: "quota_exceeded", detail, figures: { ...asked, current } };
}

export const automaticTenant = (id: TenantId, createdAt: Instant): Tenant => ({
  id,
  description: "",
  quota: UNLIMITED,
  maxPreemptionClass: MAX_PREEMPTION_CLASS,
  createdAt,
  automatic: true,
});
