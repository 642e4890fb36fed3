// Invariants of the ledger: users add up to their tenant and tenants to the cluster, days add up to
// the window, running work is what the phases say, and nothing is older than the ledger goes back.

import { type Amount, NO_USE } from "../../src/base/amount.ts";
import type { TenantId, UserName } from "../../src/base/ids.ts";
import { type CurrentUse, chargedSince, currentUse } from "../../src/model/ledger/current-use.ts";
import { firstKeptDay, LEDGER_DAYS, lastDays } from "../../src/model/ledger/day.ts";
import type { View } from "../../src/state/view.ts";

export function brokenLedger(view: View): string[] {
  const { ledger } = view;
  const window = lastDays(view.at, LEDGER_DAYS);
  const broken: string[] = [];
  if (ledger.oldestDay < firstKeptDay(view.at)) broken.push(`the ledger still has day ${ledger.oldestDay}`);
  const whole = ledger.spent({}, window);
  if (!same(sum(ledger.days({}, window)), whole)) broken.push("the days of the ledger do not add up to its window");
  const tenants = ledger.tenants();
  if (!same(sum(tenants.map((tenant) => ledger.spent({ tenant }, window))), whole)) {
    broken.push("the tenants' use does not add up to the cluster's");
  }
  for (const tenant of tenants) {
    const users = ledger.users(tenant).map((user) => ledger.spent({ tenant, user }, window));
    if (!same(sum(users), ledger.spent({ tenant }, window))) broken.push(`the users of ${tenant} do not add up`);
  }
  return [...broken, ...brokenRunning(view)];
}

function brokenRunning(view: View): string[] {
  const held = new Map<string, CurrentUse>();
  let runs = 0;
  for (const record of view.placed()) {
    if (chargedSince(record) === null) continue;
    runs += 1;
    const key = `${record.spec.tenant} ${record.user}`;
    const more = currentUse(record, (node) => view.node(node)?.capabilities.gpuCount);
    const known = held.get(key) ?? { nodes: 0, gpus: 0 };
    held.set(key, { nodes: known.nodes + more.nodes, gpus: known.gpus + more.gpus });
  }
  const broken: string[] = [];
  if (view.ledger.running({}).allocations !== runs) broken.push(`the ledger does not know ${runs} running allocations`);
  for (const [key, { nodes, gpus }] of held) {
    const [tenant, user] = key.split(" ") as [TenantId, UserName];
    const counted = view.ledger.running({ tenant, user });
    if (counted.nodes !== nodes || counted.gpus !== gpus) broken.push(`the ledger counts other nodes for ${user}`);
  }
  return broken;
}

const sum = (amounts: readonly Amount[]): Amount =>
  amounts.reduce((a, b) => ({ nodeMs: a.nodeMs + b.nodeMs, gpuMs: a.gpuMs + b.gpuMs }), NO_USE);

const same = (a: Amount, b: Amount): boolean => a.nodeMs === b.nodeMs && a.gpuMs === b.gpuMs;
