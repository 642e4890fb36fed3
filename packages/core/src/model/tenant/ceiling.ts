// The ceiling of a tenant's limits. The administrators of a tenant may lower its limits and raise them again up to the
// ceiling, which the cluster's administrators set. The ceiling is stored while a limit is below it. Shares are not
// included: they are parts of one whole.

import type { Refusal } from "../../base/outcome.ts";
import { FIELDS } from "./check.ts";
import type { Ceiling, Quota, Tenant } from "./tenant.ts";

/** The fields of a tenant that a command changes; others keep their value. */
export interface TenantChange {
  readonly description?: string;
  readonly quota?: Partial<Quota>;
  readonly maxPreemptionClass?: number;
}

/** A `null` limit is unlimited; for network domains it is the cluster's limit for every tenant. */
const LOWERED: ReadonlySet<keyof Quota> = new Set([
  "maxNodes",
  "maxConcurrentAllocations",
  "gpuHoursBudget",
  "nodeHoursBudget",
  "maxNetworkDomains",
]);

/** Returns `null` when the administrators of the tenant may make this change. */
export function whyNotWithin(tenant: Tenant, change: TenantChange, domainsOfAll: number): Refusal | null {
  const { quota, maxPreemptionClass } = ceilingOf(tenant);
  for (const key of Object.keys(change.quota ?? {}) as (keyof Quota)[]) {
    const name = FIELDS[key].field;
    if (!LOWERED.has(key))
      return { code: "forbidden", detail: `${name} can be set only by administrators of the cluster`, hint: ASK };
    const most = quota[key] ?? (key === "maxNetworkDomains" ? domainsOfAll : null);
    const asked = change.quota?.[key] ?? null;
    if (most !== null && asked !== null && asked > most) return beyond(tenant, name, most, asked);
  }
  const asked = change.maxPreemptionClass ?? 0;
  return asked > maxPreemptionClass ? beyond(tenant, "max_preemption_class", maxPreemptionClass, asked) : null;
}

const ASK =
  "Ask an administrator of the cluster. Tenant administrators may lower limits, and raise them again up to the value that the cluster's administrators set.";

const beyond = ({ id }: Tenant, name: string, limit: number, requested: number): Refusal => ({
  code: "forbidden",
  detail: `${name} of tenant "${id}" may be at most ${limit}, the limit set by the cluster's administrators; requested ${requested}`,
  hint: ASK,
  figures: { limit, requested },
});

/** Applies a change by the tenant's administrators. A removed limit returns to the ceiling. */
export function changedWithin(tenant: Tenant, change: TenantChange): Tenant {
  const ceiling = ceilingOf(tenant);
  const quota: Quota = { ...tenant.quota };
  for (const [key, asked] of Object.entries(change.quota ?? {}) as [keyof Quota, number | null][])
    Object.assign(quota, { [key]: asked ?? ceiling.quota[key] ?? null });
  return under(ceiling, { ...tenant, ...changedFields(tenant, change), quota });
}

/** Applies a change by the cluster's administrators: it takes effect at once and becomes the ceiling. */
export function changedFromAbove(tenant: Tenant, change: TenantChange): Tenant {
  const { quota, maxPreemptionClass } = ceilingOf(tenant);
  const ceiling: Ceiling = {
    quota: { ...quota, ...change.quota },
    maxPreemptionClass: change.maxPreemptionClass ?? maxPreemptionClass,
  };
  return under(ceiling, { ...tenant, ...changedFields(tenant, change), quota: { ...tenant.quota, ...change.quota } });
}

const ceilingOf = ({ ceiling, quota, maxPreemptionClass }: Tenant): Ceiling => ceiling ?? { quota, maxPreemptionClass };

const changedFields = (tenant: Tenant, { description, maxPreemptionClass }: TenantChange) => ({
  description: description ?? tenant.description,
  maxPreemptionClass: maxPreemptionClass ?? tenant.maxPreemptionClass,
});

/** Stored while it differs from the limits. */
function under(ceiling: Ceiling, { ceiling: _, ...tenant }: Tenant): Tenant {
  const keys = Object.keys(FIELDS) as (keyof Quota)[];
  const same =
    keys.every((key) => (ceiling.quota[key] ?? null) === (tenant.quota[key] ?? null)) &&
    ceiling.maxPreemptionClass === tenant.maxPreemptionClass;
  return same ? tenant : { ...tenant, ceiling };
}
