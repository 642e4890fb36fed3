// The accounts of all users, tenants and the cluster, updated whenever a bucket, an allocation or a node is replaced.
// Derived from the records, neither hashed nor stored.

import { byCodeUnits } from "../base/canonical.ts";
import type { AllocationId, Instant, TenantId, UserName } from "../base/ids.ts";
import type { Allocation } from "../model/allocation/allocation.ts";
import { attemptOn } from "../model/allocation/node-attempts.ts";
import type { Bucket } from "../model/ledger/bucket.ts";
import { type CurrentUse, chargedSince, currentUse, type GpusOn } from "../model/ledger/current-use.ts";
import type { Day } from "../model/ledger/day.ts";
import type { Holder, Ledger } from "../model/ledger/ledger.ts";
import type { Node } from "../model/node/node.ts";
import {
  type Account,
  addEnded,
  addRunning,
  createAccount,
  dayByDay,
  isEmpty,
  runningNow,
  sumOver,
} from "./account.ts";

export interface Accounts extends Ledger {
  bucketReplaced(before: Bucket | undefined, after: Bucket | undefined): void;
  allocationReplaced(before: Allocation | undefined, after: Allocation | undefined): void;
  nodeReplaced(before: Node | undefined, after: Node): void;
}

interface TenantAccounts {
  readonly all: Account;
  readonly users: Map<UserName, Account>;
  usersWithBuckets: number;
}

interface Started extends CurrentUse {
  readonly tenant: TenantId;
  readonly user: UserName;
  /** The account at the start. */
  readonly record: Allocation;
  readonly at: Instant;
}

const EMPTY = createAccount();

export function createAccounts(gpusOn: GpusOn): Accounts {
  const whole = createAccount();
  const tenants = new Map<TenantId, TenantAccounts>();
  const started = new Map<AllocationId, Started>();
  const bucketsOn = new Map<Day, number>();
  let oldest: Day = Number.POSITIVE_INFINITY;

  /** Applies a change to the user's, the tenant's and the cluster's account, and removes empty accounts. */
  function change(tenant: TenantId, user: UserName, act: (account: Account) => void): void {
    const accounts = tenants.get(tenant) ?? { all: createAccount(), users: new Map(), usersWithBuckets: 0 };
    const own = accounts.users.get(user) ?? createAccount();
    const had = own.ended.size > 0;
    for (const account of [own, accounts.all, whole]) act(account);
    accounts.usersWithBuckets += Number(own.ended.size > 0) - Number(had);
    if (isEmpty(own)) accounts.users.delete(user);
    else accounts.users.set(user, own);
    if (accounts.users.size === 0) tenants.delete(tenant);
    else tenants.set(tenant, accounts);
  }

  function start(id: AllocationId, entry: Started): void {
    started.set(id, entry);
    change(entry.tenant, entry.user, (account) => addRunning(account, entry.at, entry, 1));
  }

  function end(id: AllocationId): void {
    const entry = started.get(id);
    if (entry === undefined) return;
    started.delete(id);
    change(entry.tenant, entry.user, (account) => addRunning(account, entry.at, entry, -1));
  }

  function find({ tenant, user }: Holder): Account {
    if (tenant === undefined) return user === undefined ? whole : EMPTY;
    const accounts = tenants.get(tenant);
    return (user === undefined ? accounts?.all : accounts?.users.get(user)) ?? EMPTY;
  }

  return {
    spent: (holder, window) => sumOver(find(holder), window),
    days: (holder, window) => dayByDay(find(holder), window),
    running: (holder) => runningNow(find(holder)),
    tenants: () => [...tenants.keys()].sort(byCodeUnits),
    users: (tenant) => [...(tenants.get(tenant)?.users.keys() ?? [])].sort(byCodeUnits),
    userCount: (tenant) => tenants.get(tenant)?.usersWithBuckets ?? 0,
    hasBuckets: (tenant, user) => (tenants.get(tenant)?.users.get(user)?.ended.size ?? 0) > 0,
    get oldestDay() {
      return oldest;
    },

    bucketReplaced(before, after) {
      if (before !== undefined) {
        change(before.tenant, before.user, (account) => addEnded(account, before.day, before, -1));
        tally(bucketsOn, before.day, -1);
        if (before.day === oldest && !bucketsOn.has(oldest)) oldest = Math.min(...bucketsOn.keys());
      }
      if (after !== undefined) {
        change(after.tenant, after.user, (account) => addEnded(account, after.day, after, 1));
        tally(bucketsOn, after.day, 1);
        oldest = Math.min(oldest, after.day);
      }
    },
    allocationReplaced(before, after) {
      const was = chargedSince(before);
      const is = chargedSince(after);
      // Same nodes since the same time: no change. This is the common case.
      if (was !== null && was === is && nodesOf(before) === nodesOf(after)) return;
      if (before !== undefined && was !== null) end(before.id);
      if (after === undefined || is === null) return;
      const { user, spec } = after;
      start(after.id, { tenant: spec.tenant, user, record: after, at: is, ...currentUse(after, gpusOn) });
    },
    nodeReplaced(before, after) {
      const more = after.capabilities.gpuCount - (before ?? after).capabilities.gpuCount;
      if (more === 0) return;
      for (const claim of after.claims) {
        const entry = started.get(claim.allocation);
        if (entry === undefined || claim.releasing || !claim.exclusive) continue;
        if (attemptOn(entry.record, after.id) !== claim.attempt) continue;
        started.set(claim.allocation, { ...entry, gpus: entry.gpus + more });
        const extra: CurrentUse = { nodes: 0, gpus: more };
        change(entry.tenant, entry.user, (account) => addRunning(account, entry.at, extra, 1, 0));
      }
    },
  };
}

function tally(counts: Map<Day, number>, day: Day, change: 1 | -1): void {
  const left = (counts.get(day) ?? 0) + change;
  if (left === 0) counts.delete(day);
  else counts.set(day, left);
}

const nodesOf = (record: Allocation | undefined): unknown =>
  record !== undefined && "nodes" in record.phase ? record.phase.nodes : null;
