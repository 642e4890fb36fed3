// `lattice admin tenant show --quotas`: every limit of a tenant beside what is used of it.

import type { Tenant, Usage } from "@lattice/sdk";
import type { Context } from "../../context.ts";
import type { Column } from "../../output/table.ts";
import { ABSENT } from "../../output/text.ts";

interface QuotaRow {
  readonly name: string;
  readonly used: number | undefined;
  readonly limit: number | undefined;
}

export async function showQuotas({ print }: Context, tenant: Tenant, usage: Usage): Promise<void> {
  const rows = quotaRows(tenant, usage);
  if (print.structured) return print.document({ tenant: tenant.id, quotas: rows });
  print.table(columns, rows);
}

export function quotaRows(
  { quota = {}, nodes_in_use, running_allocations }: Tenant,
  usage: Usage,
): readonly QuotaRow[] {
  const spent = (kind: string, otherwise: number | undefined): number =>
    usage.budgets?.find((budget) => budget.kind === kind)?.used_hours ?? otherwise ?? 0;
  return [
    { name: "max_nodes", used: nodes_in_use ?? 0, limit: quota.max_nodes },
    { name: "max_concurrent_allocations", used: running_allocations ?? 0, limit: quota.max_concurrent_allocations },
    { name: "gpu_hours_budget", used: spent("gpu_hours", usage.gpu_hours), limit: quota.gpu_hours_budget },
    { name: "node_hours_budget", used: spent("node_hours", usage.node_hours), limit: quota.node_hours_budget },
    { name: "fair_share_target", used: usage.share ?? 0, limit: quota.fair_share_target },
    { name: "burst_allowance", used: undefined, limit: quota.burst_allowance },
  ];
}

const figure = (value: number | undefined): string =>
  value === undefined ? ABSENT : Number.isInteger(value) ? String(value) : value.toFixed(2);

const columns: readonly Column<QuotaRow>[] = [
  { header: "QUOTA", value: ({ name }) => name },
  { header: "USED", value: ({ used }) => figure(used), align: "right" },
  { header: "LIMIT", value: ({ limit }) => (limit === undefined ? "unlimited" : figure(limit)), align: "right" },
  {
    header: "LEFT",
    value: ({ used, limit }) =>
      used === undefined || limit === undefined ? ABSENT : figure(Math.max(0, limit - used)),
    align: "right",
  },
];
