// Power and storage bandwidth as hard limits of the whole cluster: starts use them up, releases return them. A start
// must fit until its end, next to every reservation that starts meanwhile, so that backfill cannot take what a reserved
// start needs.

import type { Job } from "../fit/job.ts";
import type { CycleInput, NodeInput } from "../input/cycle-input.ts";
import { expectedRelease } from "../machine/availability.ts";
import type { Machine } from "../machine/machine.ts";

type ScarceResource = "power" | "storage";

export interface Budgets {
  /** Returns the most nodes, up to `atMost`, that the job may use in [from, to). */
  most(job: Job, atMost: number, from: number, to: number): number;
  /** Returns the resource that keeps the job from starting now, or `null`. */
  scarce(job: Job, now: number): ScarceResource | null;
  /** Returns the least that is left at any instant of [from, to); Infinity without a limit. */
  left(what: ScarceResource, from: number, to: number): number;
  /** Returns the first instant after the given one at which a resource that the job uses is returned, or Infinity. */
  returnsOf(job: Job): (after: number) => number;
  /** Charges a start of this plan. */
  charge(job: Job, nodes: readonly number[]): void;
  reserve(job: Job, from: number, to: number): void;
  release(job: Job): void;
}

/** Returns `null` when neither resource is limited. */
export function createBudgets(input: CycleInput, machine: Machine): Budgets | null {
  const { power, storage } = input.signals ?? {};
  if (power === undefined && storage === undefined) return null;
  const watts = (node: NodeInput | undefined): number => node?.powerWatts ?? 0;
  const wattsOf = (nodes: readonly number[]): number =>
    nodes.reduce((sum, node) => sum + watts(machine.nodes[node]), 0);
  const wattsEach = (job: Job): number => {
    let most = 0;
    for (const [kind, node] of machine.kinds.entries())
      if (job.match.kinds[kind] === 1) most = Math.max(most, watts(node));
    return most;
  };
  const lines: BudgetLine[] = [];
  const released = (amount: (release: CycleInput["releases"][number]) => number): BudgetStep[] =>
    input.releases.map((release) => ({ at: expectedRelease(release.endsAt, input.now), amount: amount(release) }));
  if (power !== undefined) {
    const back = released(({ nodes }) => wattsOf(nodes.flatMap((id) => machine.indexOf.get(id) ?? [])));
    const line = createTimeline(power.limit - power.used, back);
    lines.push({ ...line, name: "power", perNode: wattsEach, fixed: () => 0, taken: (_, nodes) => wattsOf(nodes) });
  }
  if (storage !== undefined) {
    const requested = released(({ storageMBps = 0 }) => storageMBps);
    const used = storage.used ?? requested.reduce((sum, { amount }) => sum + amount, 0);
    const line = createTimeline(storage.limit - used, requested);
    const fixed = (job: Job): number => job.input.constraints.storageMBps ?? 0;
    lines.push({ ...line, name: "storage", perNode: () => 0, fixed, taken: fixed });
  }
  return combine(lines, input.now);
}

interface BudgetStep {
  readonly at: number;
  readonly amount: number;
}

interface BudgetLine extends BudgetTimeline {
  readonly name: ScarceResource;
  readonly perNode: (job: Job) => number;
  readonly fixed: (job: Job) => number;
  readonly taken: (job: Job, nodes: readonly number[]) => number;
}

const NEVER = Number.POSITIVE_INFINITY;

const usesNone = (line: BudgetLine, job: Job): boolean => line.perNode(job) === 0 && line.fixed(job) === 0;

function combine(lines: readonly BudgetLine[], now: number): Budgets {
  const mostOf = (line: BudgetLine, job: Job, atMost: number, [from, to]: readonly [number, number]): number => {
    if (usesNone(line, job)) return atMost;
    const each = line.perNode(job);
    const left = line.leastLeft(from, to) - line.fixed(job);
    if (left < 0) return 0;
    return each === 0 ? atMost : Math.min(atMost, Math.floor(left / each));
  };
  return {
    most: (job, atMost, from, to) =>
      lines.reduce((most, line) => Math.min(most, mostOf(line, job, atMost, [from, to])), atMost),
    scarce: (job, at) =>
      lines.find((line) => mostOf(line, job, job.nodesNeeded, [at, at + job.occupancy]) < job.nodesNeeded)?.name ??
      null,
    left: (what, from, to) => lines.find(({ name }) => name === what)?.leastLeft(from, to) ?? NEVER,
    returnsOf(job) {
      const used = lines.filter((line) => !usesNone(line, job));
      return (after) => used.reduce((next, line) => Math.min(next, line.nextReturn(after)), NEVER);
    },
    charge(job, nodes) {
      for (const line of lines) line.use(line.taken(job, nodes), now + job.occupancy);
    },
    reserve(job, from, to) {
      for (const line of lines) line.reserve(job, line.fixed(job) + job.nodesNeeded * line.perNode(job), from, to);
    },
    release(job) {
      for (const line of lines) line.release(job);
    },
  };
}

interface BudgetTimeline {
  /** Returns the least that is left at any instant of [from, to). */
  leastLeft(from: number, to: number): number;
  nextReturn(after: number): number;
  use(amount: number, until: number): void;
  reserve(owner: Job, amount: number, from: number, to: number): void;
  release(owner: Job): void;
}

interface BudgetReservation {
  readonly owner: Job;
  readonly amount: number;
  readonly from: number;
  readonly to: number;
}

function createTimeline(left: number, released: readonly BudgetStep[]): BudgetTimeline {
  let now = left;
  const steps = released.filter((step) => step.amount > 0 && Number.isFinite(step.at));
  let reserved: readonly BudgetReservation[] = [];
  let times: number[] | null = null;
  let sums: number[] = [];

  /** Returns the instants of the releases in order. */
  function releaseTimes(): readonly number[] {
    if (times === null) {
      steps.sort((a, b) => a.at - b.at);
      times = steps.map((step) => step.at);
      let sum = 0;
      sums = steps.map((step) => (sum += step.amount));
    }
    return times;
  }
  /** Counts the releases until then. */
  function releasesBy(at: number): number {
    const ordered = releaseTimes();
    let low = 0;
    let high = ordered.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ordered[middle] as number) <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  const leftAt = (at: number): number => {
    const count = releasesBy(at);
    let amount = now + (sums[count - 1] ?? 0);
    for (const one of reserved) if (one.from <= at && at < one.to) amount -= one.amount;
    return amount;
  };
  return {
    leastLeft(from, to) {
      let least = leftAt(from);
      for (const one of reserved) if (one.from > from && one.from < to) least = Math.min(least, leftAt(one.from));
      return least;
    },
    nextReturn(after) {
      let next = releaseTimes()[releasesBy(after)] ?? NEVER;
      for (const { to } of reserved) if (to > after && to < next) next = to;
      return next;
    },
    use(amount, until) {
      if (amount === 0) return;
      now -= amount;
      if (Number.isFinite(until)) steps.push({ at: until, amount });
      times = null;
    },
    reserve(owner, amount, from, to) {
      if (amount > 0) reserved = [...reserved, { owner, amount, from, to }];
    },
    release(owner) {
      reserved = reserved.filter((one) => one.owner !== owner);
    },
  };
}
