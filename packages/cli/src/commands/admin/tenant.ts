// `lattice admin tenant`: tenants, their quotas and usage. The tenant is an argument or --name; both are documented.

import { randomUUID } from "node:crypto";
import type { Quota, Tenant, Usage } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import { type Command, Option } from "commander";
import { type Context, createContext } from "../../context.ts";
import { requireConfirmation } from "../../output/confirm.ts";
import type { Column } from "../../output/table.ts";
import { ABSENT } from "../../output/text.ts";
import { localTime } from "../../output/time.ts";
import { parseAmount } from "../../parse/amount.ts";
import { collect } from "../../parse/collect.ts";
import { parseCount } from "../../parse/count.ts";
import { requireName } from "../../parse/name.ts";
import { showFields } from "./fields.ts";

interface TenantFlags {
  readonly name?: string;
  readonly description?: string;
  readonly maxNodes?: number;
  readonly maxAllocations?: number;
  readonly maxConcurrentAllocations?: number;
  readonly fairShare?: number;
  readonly gpuHours?: number;
  readonly gpuHoursBudget?: number;
  readonly nodeHours?: number;
  readonly nodeHoursBudget?: number;
  readonly burst?: number;
  readonly maxNetworkDomains?: number;
  readonly maxPreemptionClass?: number;
  readonly unset?: readonly string[];
}

const MOST = 4_294_967_295;

export function defineTenant(command: Command): void {
  const create = addQuotaFlags(command.command("create").description("Create a tenant"));
  create.action(async (word: string | undefined, flags: TenantFlags) => {
    const context = await createContext(create);
    const id = requireName("tenant", word, flags.name);
    const { tenant } = await context.client.tenants.create({ id, ...settingsOf(flags) }, { requestId: randomUUID() });
    await showTenant(context, tenant);
  });

  const update = addQuotaFlags(command.command("set-quota").alias("update").description("Change a tenant's limits"));
  update.option("--unset <limit>", "remove a limit, for example max_nodes (repeatable)", collect);
  update.action(async (word: string | undefined, flags: TenantFlags) => {
    const context = await createContext(update);
    const id = requireName("tenant", word, flags.name);
    const changes = { ...settingsOf(flags), ...(flags.unset === undefined ? {} : { unset: flags.unset }) };
    if (Object.keys(changes).length === 0) {
      throw new ProblemError("invalid_argument", {
        detail: "no change is given",
        hint: "For example: lattice admin tenant set-quota physics --max-nodes=250",
      });
    }
    const { tenant } = await context.client.tenants.update(id, changes, { requestId: randomUUID() });
    await showTenant(context, tenant);
  });

  const list = command.command("list").description("Show all tenants");
  list.action(async () => showTenants(await createContext(list)));

  const show = command.command("show").alias("get").description("Show one tenant");
  show.argument("[name]", "tenant").option("--name <name>", "tenant").option("--quotas", "limits and usage");
  show.action(async (word: string | undefined, flags: TenantFlags & { readonly quotas?: boolean }) => {
    const context = await createContext(show);
    const id = requireName("tenant", word, flags.name);
    const tenant = await context.client.tenants.get(id);
    if (flags.quotas !== true) return showTenant(context, tenant);
    await showQuotas(context, tenant, await context.client.usage.tenant(id));
  });

  const remove = command.command("delete").description("Delete a tenant without allocations and vClusters");
  remove.argument("[name]", "tenant").option("--name <name>", "tenant").option("--yes", "do not ask for confirmation");
  remove.action(async (word: string | undefined, flags: TenantFlags & { readonly yes?: boolean }) => {
    const { client, print } = await createContext(remove);
    const id = requireName("tenant", word, flags.name);
    await requireConfirmation(flags.yes, `Delete the tenant ${id}?`, `tenant ${id} not deleted`);
    const answer = await client.tenants.delete(id, { requestId: randomUUID() });
    if (print.structured) return print.document(answer);
    print.done(id, `DeleteResponse tenant ${id}`);
  });
}

function addQuotaFlags(command: Command): Command {
  const count = (text: string) => parseCount(text, 0, MOST);
  return command
    .argument("[name]", "tenant")
    .option("--name <name>", "tenant")
    .option("--description <text>", "description")
    .option("--max-nodes <count>", "maximum number of nodes in use", count)
    .option("--max-allocations <count>", "maximum number of running allocations", count)
    .option("--fair-share <share>", "target share of the cluster, 0 to 1", parseAmount)
    .option("--gpu-hours <hours>", "GPU-hours budget", parseAmount)
    .option("--node-hours <hours>", "node-hours budget", parseAmount)
    .option("--burst <factor>", "factor by which it may exceed its share while nodes are idle", parseAmount)
    .option("--max-network-domains <count>", "maximum number of named network domains", count)
    .option("--max-preemption-class <class>", "highest preemption class of its users", (text) =>
      parseCount(text, 0, 10),
    )
    .addOption(alsoNamed("--max-concurrent-allocations <count>", count))
    .addOption(alsoNamed("--gpu-hours-budget <hours>", parseAmount))
    .addOption(alsoNamed("--node-hours-budget <hours>", parseAmount));
}

/** A hidden flag with the limit's name in the API; the help shows the shorter flag. */
const alsoNamed = (flags: string, parse: (text: string) => number): Option =>
  new Option(flags).argParser(parse).hideHelp();

function settingsOf(flags: TenantFlags) {
  const limits: Record<string, number | undefined> = {
    max_nodes: flags.maxNodes,
    max_concurrent_allocations: flags.maxAllocations ?? flags.maxConcurrentAllocations,
    fair_share_target: flags.fairShare,
    gpu_hours_budget: flags.gpuHours ?? flags.gpuHoursBudget,
    node_hours_budget: flags.nodeHours ?? flags.nodeHoursBudget,
    burst_allowance: flags.burst,
    max_network_domains: flags.maxNetworkDomains,
  };
  const quota = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)) as Quota;
  return {
    ...(flags.description === undefined ? {} : { description: flags.description }),
    ...(flags.maxPreemptionClass === undefined ? {} : { max_preemption_class: flags.maxPreemptionClass }),
    ...(Object.keys(quota).length === 0 ? {} : { quota }),
  };
}

async function showTenants({ client, print, settings }: Context): Promise<void> {
  const rows: Tenant[] = [];
  let token: string | undefined;
  do {
    const page = await client.tenants.list(token === undefined ? {} : { page_token: token });
    rows.push(...(page.tenants ?? []));
    token = page.next_page_token === "" ? undefined : page.next_page_token;
  } while (token !== undefined);
  if (print.structured) return print.document({ tenants: rows });
  if (settings.quiet) return print.lines(rows.map(({ id }) => id));
  print.table(columns, rows);
}

const limit = (value: number | undefined): string => (value === undefined ? "unlimited" : String(value));

const columns: readonly Column<Tenant>[] = [
  { header: "TENANT", value: ({ id }) => id },
  { header: "NODES", value: ({ nodes_in_use }) => String(nodes_in_use ?? 0), align: "right" },
  { header: "MAX NODES", value: ({ quota }) => limit(quota?.max_nodes), align: "right" },
  { header: "RUNNING", value: ({ running_allocations }) => String(running_allocations ?? 0), align: "right" },
  { header: "MAX RUNNING", value: ({ quota }) => limit(quota?.max_concurrent_allocations), align: "right" },
  { header: "SHARE", value: ({ quota }) => String(quota?.fair_share_target ?? ABSENT), align: "right" },
  { header: "DESCRIPTION", value: ({ description }) => description || ABSENT, flexible: true },
];

async function showTenant({ print, settings }: Context, tenant: Tenant): Promise<void> {
  if (print.structured) return print.document(tenant);
  if (settings.quiet) return print.line(tenant.id);
  const { quota = {} } = tenant;
  showFields(print, [
    ["Tenant", tenant.id],
    ["Description", tenant.description],
    ["Nodes in use", `${tenant.nodes_in_use ?? 0} of ${limit(quota.max_nodes)}`],
    ["Running allocations", `${tenant.running_allocations ?? 0} of ${limit(quota.max_concurrent_allocations)}`],
    ["Fair share target", quota.fair_share_target],
    ["GPU hours budget", quota.gpu_hours_budget],
    ["Node hours budget", quota.node_hours_budget],
    ["Burst allowance", quota.burst_allowance],
    ["Network domains", quota.max_network_domains],
    ["Highest preemption class", tenant.max_preemption_class],
    ["Cluster ceilings", ceilingText(tenant)],
    ["Created automatically", tenant.automatic === true ? true : undefined],
    ["Created", localTime(tenant.created_at)],
  ]);
}

/** Lists the cluster's ceilings for limits that the tenant's administrators have lowered. */
function ceilingText({ quota = {}, max_preemption_class, ceiling }: Tenant): string | undefined {
  if (ceiling === undefined) return undefined;
  const above: Record<string, unknown> = { ...ceiling.quota, max_preemption_class: ceiling.max_preemption_class };
  const own: Record<string, unknown> = { ...quota, max_preemption_class };
  const names = Object.keys({ ...above, ...own }).filter((name) => above[name] !== own[name]);
  return names.map((name) => `${name} ${above[name] ?? "unlimited"}`).join(", ");
}

interface QuotaRow {
  readonly name: string;
  readonly used: number | undefined;
  readonly limit: number | undefined;
}

async function showQuotas({ print }: Context, tenant: Tenant, usage: Usage): Promise<void> {
  const rows = quotaRows(tenant, usage);
  if (print.structured) return print.document({ tenant: tenant.id, quotas: rows });
  print.table(quotaColumns, rows);
}

function quotaRows({ quota = {}, nodes_in_use, running_allocations }: Tenant, usage: Usage): readonly QuotaRow[] {
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

const quotaColumns: readonly Column<QuotaRow>[] = [
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
