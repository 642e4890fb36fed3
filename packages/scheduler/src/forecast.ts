// Estimates the starts of a short queue by running the cycles to come: work ends at its walltime, each end brings another
// cycle, and nothing new arrives. It therefore knows the order of the queue as waits grow, and backfill. Long queues and
// large clusters get the coarse replay of `explain/estimate.ts`, since a forecast costs a cycle for each end.

import { type AllocationId, type Instant, instant } from "@lattice/core";
import { OVERDUE_RELEASE, WALLTIME_GRACE } from "./base/bounds.ts";
import { cycle } from "./cycle.ts";
import type { CycleInput, CycleResult, PendingInput, ReleaseInput, Reservation } from "./input/cycle-input.ts";

/** Cycles times nodes and pending allocations: some tens of milliseconds. */
const WORK_LIMIT = 20_000;

interface Running {
  readonly release: ReleaseInput;
  /** Infinity when unbounded. */
  readonly endsAt: number;
}

/** Returns the expected starts of all pending allocations, or `null` when that would cost too much. */
export function forecast(input: CycleInput, first: CycleResult): ReadonlyMap<AllocationId, Instant> | null {
  const { pending, nodes } = input;
  if (pending.length === 0 || pending.length * (pending.length + nodes.length) > WORK_LIMIT) return null;
  if (first.preemptions.length > 0 || (input.awaiting?.length ?? 0) > 0) return null;
  // Shares of nodes are not replayed, and a trial stops early.
  if (input.sharedNodes !== undefined || input.stopAfter !== undefined) return null;
  const starts = new Map<AllocationId, Instant>();
  let running = input.releases.map((release): Running => ({ release, endsAt: expectedEnd(release, input.now) }));
  let waiting: readonly PendingInput[] = pending;
  let plan: Pick<CycleResult, "placements" | "reservations"> = first;
  let { now } = input;
  while (true) {
    const started = startedBy(plan, waiting, now);
    for (const { release } of started) if (now > input.now) starts.set(release.allocation, now);
    running = [...running, ...started];
    waiting = waiting.filter(({ id }) => !started.some(({ release }) => release.allocation === id));
    const next = Math.min(...running.map(({ endsAt }) => endsAt));
    if (waiting.length === 0 || !Number.isFinite(next)) return starts;
    now = instant(next);
    running = running.filter(({ endsAt }) => endsAt > next);
    plan = cycle(inputAt(input, { now, running, waiting, reservations: plan.reservations }));
  }
}

/** Work is expected to end at its walltime, and what is overdue soon. */
function expectedEnd({ endsAt }: ReleaseInput, now: number): number {
  if (endsAt === null) return Number.POSITIVE_INFINITY;
  return endsAt - WALLTIME_GRACE > now ? endsAt - WALLTIME_GRACE : Math.max(endsAt, now + OVERDUE_RELEASE);
}

function startedBy({ placements }: Pick<CycleResult, "placements">, waiting: readonly PendingInput[], now: number) {
  return placements.flatMap(({ allocation, nodes }): Running[] => {
    const owner = waiting.find(({ id }) => id === allocation);
    if (owner === undefined) return [];
    const { walltime, tenant } = owner;
    const planned = walltime === null ? null : instant(now + walltime + WALLTIME_GRACE);
    const endsAt = walltime === null ? Number.POSITIVE_INFINITY : now + Math.max(1, walltime);
    return [{ release: { allocation, nodes, tenant, endsAt: planned }, endsAt }];
  });
}

interface Moment {
  readonly now: Instant;
  readonly running: readonly Running[];
  readonly waiting: readonly PendingInput[];
  readonly reservations: readonly Reservation[];
}

function inputAt(input: CycleInput, { now, running, waiting, reservations }: Moment): CycleInput {
  const { prepared: _arrays, cache: _cache, victims: _victims, reported: _reported, ...rest } = input;
  const releases = running.map(({ release }) => release);
  const taken = new Set(releases.flatMap(({ nodes }) => nodes));
  const had = useByTenant(input.releases);
  const has = useByTenant(releases);
  return {
    ...rest,
    now,
    nodes: input.nodes.map((node) => {
      const free = node.free || node.notFreeBecause === "busy";
      const isFree = free && !taken.has(node.id);
      return isFree === node.free ? node : { ...node, free: isFree, notFreeBecause: isFree ? "" : "busy" };
    }),
    releases,
    pending: waiting,
    tenants: input.tenants.map((tenant) => {
      const [before, after] = [had.get(tenant.id) ?? NOTHING, has.get(tenant.id) ?? NOTHING];
      return {
        ...tenant,
        nodesInUse: Math.max(0, tenant.nodesInUse + after.nodes - before.nodes),
        running: Math.max(0, tenant.running + after.running - before.running),
      };
    }),
    previousReservations: reservations,
    report: "none",
  };
}

const NOTHING = { nodes: 0, running: 0 };

function useByTenant(releases: readonly ReleaseInput[]): ReadonlyMap<string, typeof NOTHING> {
  const use = new Map<string, typeof NOTHING>();
  for (const { tenant, nodes } of releases) {
    if (tenant === undefined) continue;
    const before = use.get(tenant) ?? NOTHING;
    use.set(tenant, { nodes: before.nodes + nodes.length, running: before.running + 1 });
  }
  return use;
}
