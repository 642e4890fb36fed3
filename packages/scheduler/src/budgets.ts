// Power and storage bandwidth as hard limits: amounts of the whole cluster that starts use up and
// releases give back. A start must fit not only now but until it ends, next to every reservation that
// begins meanwhile; so no backfill can take what a reserved start counts on.

import type { CycleInput, NodeInput } from "./cycle-types.ts";
import type { Job } from "./job.ts";
import { releasedAt } from "./machine/availability.ts";
import type { Machine } from "./machine/machine.ts";

export type Scarce = "power" | "storage";

export interface Budgets {
  /** The most nodes, up to `atMost`, that the job may take for [from, to). */
  most(job: Job, atMost: number, from: number, to: number): number;
  /** What is in the way of its least number of nodes now; null when nothing is. */
  scarce(job: Job, now: number): Scarce | null;
  /** The least that is left of it at any instant of [from, to); Infinity where it is not limited. */
  left(what: Scarce, from: number, to: number): number;
  /** Counts a start of this plan in. */
  charge(job: Job, nodes: readonly number[]): void;
  reserve(job: Job, from: number, to: number): void;
  release(job: Job): void;
}

/** Null when neither is limited. */
export function budgetsOf(input: CycleInput, machine: Machine): Budgets | null {
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
  const lines: Line[] = [];
  const released = (amount: (release: CycleInput["releases"][number]) => number): Step[] =>
    input.releases.map((release) => ({ at: releasedAt(release.endsAt, input.now), amount: amount(release) }));
  if (power !== undefined) {
    const back = released(({ nodes }) => wattsOf(nodes.flatMap((id) => machine.indexOf.get(id) ?? [])));
    const line = createLine(power.limit - power.used, back);
    lines.push({ ...line, name: "power", perNode: wattsEach, fixed: () => 0, taken: (_, nodes) => wattsOf(nodes) });
  }
  if (storage !== undefined) {
    const asked = released(({ storageMBps = 0 }) => storageMBps);
    const used = storage.used ?? asked.reduce((sum, { amount }) => sum + amount, 0);
    const line = createLine(storage.limit - used, asked);
    const fixed = (job: Job): number => job.input.storageMBps ?? 0;
    lines.push({ ...line, name: "storage", perNode: () => 0, fixed, taken: fixed });
  }
  return budgetsOver(lines, input.now);
}

interface Step {
  readonly at: number;
  readonly amount: number;
}

interface Line extends Amounts {
  readonly name: Scarce;
  readonly perNode: (job: Job) => number;
  readonly fixed: (job: Job) => number;
  readonly taken: (job: Job, nodes: readonly number[]) => number;
}

function budgetsOver(lines: readonly Line[], now: number): Budgets {
  const mostOf = (line: Line, job: Job, atMost: number, [from, to]: readonly [number, number]): number => {
    const each = line.perNode(job);
    const fixed = line.fixed(job);
    if (each === 0 && fixed === 0) return atMost;
    const room = line.room(from, to) - fixed;
    if (room < 0) return 0;
    return each === 0 ? atMost : Math.min(atMost, Math.floor(room / each));
  };
  return {
    most: (job, atMost, from, to) =>
      lines.reduce((most, line) => Math.min(most, mostOf(line, job, atMost, [from, to])), atMost),
    scarce: (job, at) =>
      lines.find((line) => mostOf(line, job, job.least, [at, at + job.occupies]) < job.least)?.name ?? null,
    left: (what, from, to) => lines.find(({ name }) => name === what)?.room(from, to) ?? Number.POSITIVE_INFINITY,
    charge(job, nodes) {
      for (const line of lines) line.use(line.taken(job, nodes), now + job.occupies);
    },
    reserve(job, from, to) {
      for (const line of lines) line.reserve(job, line.fixed(job) + job.least * line.perNode(job), from, to);
    },
    release(job) {
      for (const line of lines) line.release(job);
    },
  };
}

interface Amounts {
  /** The least that is left at any instant of [from, to). */
  room(from: number, to: number): number;
  use(amount: number, until: number): void;
  reserve(owner: Job, amount: number, from: number, to: number): void;
  release(owner: Job): void;
}

interface Reserved {
  readonly owner: Job;
  readonly amount: number;
  readonly from: number;
  readonly to: number;
}

function createLine(left: number, released: readonly Step[]): Amounts {
  let now = left;
  const steps = released.filter((step) => step.amount > 0 && Number.isFinite(step.at));
  let reserved: readonly Reserved[] = [];
  let times: number[] | null = null;
  let sums: number[] = [];

  /** Steps in order of time, with what they have given back in all. */
  function backBy(at: number): number {
    if (times === null) {
      steps.sort((a, b) => a.at - b.at);
      times = steps.map((step) => step.at);
      let sum = 0;
      sums = steps.map((step) => (sum += step.amount));
    }
    let low = 0;
    let high = times.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((times[middle] as number) <= at) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? 0 : (sums[low - 1] as number);
  }
  const leftAt = (at: number): number => {
    let amount = now + backBy(at);
    for (const one of reserved) if (one.from <= at && at < one.to) amount -= one.amount;
    return amount;
  };
  return {
    room(from, to) {
      let least = leftAt(from);
      for (const one of reserved) if (one.from > from && one.from < to) least = Math.min(least, leftAt(one.from));
      return least;
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
