// A view with one more pending allocation. Everything else comes from the state itself, which stays unchanged.

import type { Allocation, Tenant, View } from "@lattice/core";

export function viewWith(view: View, record: Allocation, tenant: Tenant): View {
  const { vcluster, lifecycle } = record.spec;
  const changed: Partial<View> = {
    allocation: (id) => (id === record.id ? record : view.allocation(id)),
    pending: (id) => (id === vcluster ? [...view.pending(id), record] : view.pending(id)),
    pendingCount: (id) => view.pendingCount(id) + (id === vcluster ? 1 : 0),
    highestPendingClass: (id) =>
      Math.max(view.highestPendingClass(id), id === vcluster ? lifecycle.preemptionClass : Number.NEGATIVE_INFINITY),
    tenant: (id) => (id === tenant.id ? tenant : view.tenant(id)),
    tenants: () => (view.tenant(tenant.id) === undefined ? [...view.tenants(), tenant] : view.tenants()),
  };
  return new Proxy(view, {
    get(target, name) {
      if (name in changed) return changed[name as keyof View];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
