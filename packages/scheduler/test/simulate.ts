// A tiny cluster in virtual time for the property tests: cycles at submissions and completions,
// placements taken as they are, allocations that end when they say or earlier. It checks on the way
// what every plan must respect, and records when everything started.

import { type AllocationId, instant, type NodeId } from "@lattice/core";
import { WALLTIME_GRACE } from "../src/base/bounds.ts";
import {
  type CycleInput,
  type CycleResult,
  cycle,
  type PendingInput,
  type ReleaseInput,
  type Reservation,
} from "../src/index.ts";

export interface Scenario {
  readonly base: CycleInput;
  /** Submitted at their `submittedAt`; must all be bounded. */
  readonly jobs: readonly PendingInput[];
  /** Thousandths of walltime plus grace that each really runs, by position; at most 1000. */
  readonly runMilli: readonly number[];
  /** When each is cancelled, waiting or running, by position; null or absent: never. */
  readonly cancelledAt?: readonly (number | null)[];
  /** Hand each cycle's reservations to the next one. */
  readonly remember?: boolean;
}

export interface Run {
  readonly startedAt: ReadonlyMap<AllocationId, number>;
  /** Every promise made: at each cycle, the first reservation. */
  readonly promises: readonly Reservation[];
  /** At each cycle, all of them. */
  readonly reservations: readonly (readonly Reservation[])[];
  readonly cycles: number;
  readonly backfills: number;
}

interface Running {
  readonly job: PendingInput;
  readonly nodes: readonly NodeId[];
  readonly endsAt: number;
  readonly plannedEnd: number;
}

export function simulate(
  scenario: Scenario,
  onCycle: (input: CycleInput, result: CycleResult) => void = () => {},
): Run {
  const startedAt = new Map<AllocationId, number>();
  const promises: Reservation[] = [];
  const reservations: (readonly Reservation[])[] = [];
  let running: Running[] = [];
  let cycles = 0;
  let backfills = 0;
  let now = Math.min(...scenario.jobs.map((job) => job.submittedAt));
  while (Number.isFinite(now)) {
    running = running.filter((each) => each.endsAt > now && cancelOf(scenario, each.job) > now);
    const previous = scenario.remember === true ? { previousReservations: reservations.at(-1) ?? [] } : {};
    const input = { ...inputAt(scenario, { now, running, startedAt }), ...previous };
    const result = cycle(input);
    cycles += 1;
    onCycle(input, result);
    for (const placement of result.placements) {
      const at = scenario.jobs.findIndex((job) => job.id === placement.allocation);
      const job = scenario.jobs[at];
      if (job === undefined || startedAt.has(job.id))
        throw new Error(`placed twice or unknown: ${placement.allocation}`);
      const occupies = (job.walltime ?? 0) + WALLTIME_GRACE;
      const runs = Math.max(1, Math.floor((occupies * (scenario.runMilli[at] ?? 1000)) / 1000));
      running.push({ job, nodes: placement.nodes, endsAt: now + runs, plannedEnd: now + occupies });
      startedAt.set(job.id, now);
      if (placement.backfilled) backfills += 1;
    }
    const first = result.reservations[0];
    if (first !== undefined) promises.push(first);
    reservations.push(result.reservations);
    const coming = scenario.jobs.flatMap((job) => [job.submittedAt as number, cancelOf(scenario, job)]);
    now = Math.min(...coming.concat(running.map((each) => each.endsAt)).filter((at) => at > now));
  }
  return { startedAt, promises, reservations, cycles, backfills };
}

const cancelOf = ({ jobs, cancelledAt }: Scenario, job: PendingInput): number =>
  cancelledAt?.[jobs.indexOf(job)] ?? Number.POSITIVE_INFINITY;

interface Moment {
  readonly now: number;
  readonly running: readonly Running[];
  readonly startedAt: ReadonlyMap<AllocationId, number>;
}

function inputAt(scenario: Scenario, { now, running, startedAt }: Moment): CycleInput {
  const { base, jobs } = scenario;
  const taken = new Set(running.flatMap((each) => each.nodes));
  const releases = running.map(
    ({ job, nodes, plannedEnd }): ReleaseInput => ({ allocation: job.id, nodes, endsAt: instant(plannedEnd) }),
  );
  return {
    ...base,
    now: instant(now),
    nodes: base.nodes.map((node) =>
      taken.has(node.id) ? { ...node, free: false, notFreeBecause: "busy" } : { ...node, free: node.usable },
    ),
    pending: jobs.filter((job) => job.submittedAt <= now && cancelOf(scenario, job) > now && !startedAt.has(job.id)),
    releases,
    tenants: base.tenants.map((tenant) => {
      const own = running.filter((each) => each.job.tenant === tenant.id);
      const nodesInUse = own.reduce((count, each) => count + each.nodes.length, 0);
      return { ...tenant, nodesInUse, running: own.length };
    }),
  };
}
