// The sums of one account (a user in a tenant, a tenant, the cluster), day by day: the use of ended attempts, and running
// work, gathered by the day of its start. Running work is kept as a number of nodes minus the milliseconds of their first
// day before the start, so that its use at any time is one multiplication per day, however many allocations run.

import { type Amount, NO_USE } from "../base/amount.ts";
import type { CurrentUse } from "../model/ledger/current-use.ts";
import { beginOf, type Day, type DayAmount, dayOf, type Window } from "../model/ledger/day.ts";

export interface Account {
  readonly ended: Map<Day, Amount>;
  readonly running: Map<Day, Running>;
  /** Cached sum of ended work over the last requested window: readers use the same window until midnight. */
  sum: EndedSum | null;
}

interface EndedSum extends Amount {
  readonly from: Day;
  readonly to: Day;
}

interface Running {
  readonly count: number;
  readonly nodes: number;
  readonly gpus: number;
  /** Sum of the milliseconds from midnight to each start. */
  readonly nodeOffsetMs: number;
  readonly gpuOffsetMs: number;
}

export const createAccount = (): Account => ({ ended: new Map(), running: new Map(), sum: null });

export const isEmpty = (account: Account): boolean => account.ended.size === 0 && account.running.size === 0;

/** `sign` -1 removes an earlier addition. */
export function addEnded(account: Account, day: Day, amount: Amount, sign: 1 | -1): void {
  const known = account.ended.get(day) ?? NO_USE;
  const nodeMs = known.nodeMs + sign * amount.nodeMs;
  const gpuMs = known.gpuMs + sign * amount.gpuMs;
  account.sum = null;
  if (nodeMs === 0 && gpuMs === 0) account.ended.delete(day);
  else account.ended.set(day, { nodeMs, gpuMs });
}

export function addRunning(account: Account, start: number, held: CurrentUse, sign: 1 | -1, count: 0 | 1 = 1): void {
  const day = dayOf(start as never);
  const offset = start - beginOf(day);
  const known = account.running.get(day) ?? NO_RUNNING;
  const next: Running = {
    count: known.count + sign * count,
    nodes: known.nodes + sign * held.nodes,
    gpus: known.gpus + sign * held.gpus,
    nodeOffsetMs: known.nodeOffsetMs + sign * held.nodes * offset,
    gpuOffsetMs: known.gpuOffsetMs + sign * held.gpus * offset,
  };
  if (next.count === 0) account.running.delete(day);
  else account.running.set(day, next);
}

const NO_RUNNING: Running = { count: 0, nodes: 0, gpus: 0, nodeOffsetMs: 0, gpuOffsetMs: 0 };

/** Takes time proportional to the days of the account, not to the window or the allocations. */
export function sumOver(account: Account, { from, to, now }: Window): Amount {
  if (account.sum?.from !== from || account.sum.to !== to) account.sum = endedOver(account, from, to);
  let { nodeMs, gpuMs } = account.sum;
  const end = Math.min(now, beginOf(to + 1));
  for (const [day, running] of account.running) {
    if (day > to) continue;
    // As below, without allocating: every cycle queries every waiting user.
    const begin = beginOf(Math.max(day, from));
    const ms = Math.max(0, end - begin);
    const first = begin === beginOf(day);
    nodeMs += Math.max(0, running.nodes * ms - (first ? running.nodeOffsetMs : 0));
    gpuMs += Math.max(0, running.gpus * ms - (first ? running.gpuOffsetMs : 0));
  }
  return { nodeMs, gpuMs };
}

function endedOver({ ended }: Account, from: Day, to: Day): EndedSum {
  let nodeMs = 0;
  let gpuMs = 0;
  for (const [day, amount] of ended) {
    if (day < from || day > to) continue;
    nodeMs += amount.nodeMs;
    gpuMs += amount.gpuMs;
  }
  return { from, to, nodeMs, gpuMs };
}

/** Returns one figure per day of the window, including empty days. */
export function dayByDay(account: Account, { from, to, now }: Window): readonly DayAmount[] {
  const days: DayAmount[] = [];
  for (let day = from; day <= to; day += 1) {
    let { nodeMs, gpuMs } = account.ended.get(day) ?? NO_USE;
    const end = Math.min(now, beginOf(day + 1));
    for (const [start, running] of account.running) {
      if (start > day) continue;
      const used = usedBetween(running, start, beginOf(day), end);
      nodeMs += used.nodeMs;
      gpuMs += used.gpuMs;
    }
    days.push({ day, nodeMs, gpuMs });
  }
  return days;
}

/** `begin` is the start of that day or later. A reader's clock may be behind the log: then 0. */
function usedBetween(running: Running, day: Day, begin: number, end: number): Amount {
  const ms = Math.max(0, end - begin);
  const first = begin === beginOf(day);
  return {
    nodeMs: Math.max(0, running.nodes * ms - (first ? running.nodeOffsetMs : 0)),
    gpuMs: Math.max(0, running.gpus * ms - (first ? running.gpuOffsetMs : 0)),
  };
}

export function runningNow(account: Account): { readonly allocations: number } & CurrentUse {
  let allocations = 0;
  let nodes = 0;
  let gpus = 0;
  for (const running of account.running.values()) {
    allocations += running.count;
    nodes += running.nodes;
    gpus += running.gpus;
  }
  return { allocations, nodes, gpus };
}
