// The state of a tenant in sentences: its use of hard limits, its fair share, and the effect of its budgets and burst
// allowance on its position in the queue. The figures are the ones that the cycle used.

import type { Job } from "../fit/job.ts";
import type { TenantInput } from "../input/cycle-input.ts";
import type { CycleRecord } from "./cycle-record.ts";

export function tenantText(
  { input, decision }: CycleRecord,
  { input: { tenant }, nodesNeeded }: Job,
): readonly string[] {
  const facts = input.tenants.find(({ id }) => id === tenant);
  if (facts === undefined) return [];
  const cluster = decision.draft.machine.usableCount;
  return [...limits(facts), ...fairShare(facts, cluster), ...burst(facts, cluster, nodesNeeded), ...budget(facts)];
}

const plural = (count: number, one: string): string => `${count} ${count === 1 ? one : `${one}s`}`;
const percent = (part: number): string => `${Math.round(part * 1000) / 10} %`;

function limits({ id, nodesInUse, running, maxNodes, maxConcurrentAllocations }: TenantInput): string[] {
  const sentences: string[] = [];
  if (maxNodes !== null)
    sentences.push(`Tenant ${id} uses ${nodesInUse} of the ${plural(maxNodes, "node")} it may use.`);
  if (maxConcurrentAllocations !== null) {
    sentences.push(`Tenant ${id} runs ${running} of the ${plural(maxConcurrentAllocations, "allocation")} it may run.`);
  }
  return sentences;
}

function fairShare({ id, nodesInUse, fairShareMilli, usedShareMilli }: TenantInput, cluster: number): string[] {
  if (cluster === 0 || fairShareMilli <= 0) return [];
  const target = fairShareMilli / 1000;
  const used = usedShareMilli === undefined ? nodesInUse / cluster : usedShareMilli / 1000;
  const uses = usedShareMilli === undefined ? "uses" : "had";
  const of = usedShareMilli === undefined ? "of the cluster now" : "of recent usage";
  const stands = `Tenant ${id} ${uses} ${percent(used)} ${of}, its fair share is ${percent(target)}`;
  if (used >= target) return [`${stands}: it is above its share, so fair share adds nothing to the score of its work.`];
  return [`${stands}: it is below its share, which raises the score of its work.`];
}

function burst(tenant: TenantInput, cluster: number, least: number): string[] {
  const { nodesInUse, fairShareMilli, burstAllowanceMilli } = tenant;
  const share = (fairShareMilli / 1000) * cluster;
  if (burstAllowanceMilli === undefined || share <= 0) return [];
  if ((nodesInUse + least) / share <= burstAllowanceMilli / 1000) return [];
  const allowance = percent(burstAllowanceMilli / 1000);
  return [
    `This allocation would exceed the burst allowance (${allowance} of the share), so the work of other tenants goes first.`,
  ];
}

function budget({ budgetUsedMilli }: TenantInput): string[] {
  if (budgetUsedMilli === undefined) return [];
  const used = `${percent(budgetUsedMilli / 1000)} of its budget is used`;
  return [budgetUsedMilli > 800 ? `${used}, which lowers its score.` : `${used}.`];
}
