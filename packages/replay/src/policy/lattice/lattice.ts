// The real scheduler in virtual time: jobs become commands, `applyEntry` folds them into a real state, and real cycles
// plan over its view. At each instant: all ends and all submissions in one entry, then one cycle per vCluster, each
// committed in an entry of its own, so that no two plans collide.

import {
  type AllocationId,
  type Applied,
  type AttemptRef,
  type Command,
  type Instant,
  type Placement,
  present,
  type State,
  unchecked,
  type VCluster,
} from "@lattice/core";
import {
  type CycleCache,
  createCycleCache,
  cycle,
  type ExternalInputs,
  type ForeignReservation,
  hasNothingToDo,
  type Reservation,
  snapshotFor,
  type Victim,
} from "@lattice/scheduler";
import type { Trace } from "../../trace/trace.ts";
import { createOutcomes, type OnProgress, type Outcomes, type ReplayPolicy } from "../base/policy.ts";
import { addReports, atInstant, commit, createCluster } from "./cluster.ts";
import { submitCommand, tenantsOf } from "./commands.ts";
import { createEventTimes } from "./event-times.ts";
import type { LatticeSetup } from "./setup.ts";

export const latticeOn =
  (setup: LatticeSetup): ReplayPolicy =>
  (trace, onProgress) =>
    replay(trace, setup, onProgress);

/** A replay in progress. */
interface Replay {
  readonly trace: Trace;
  readonly state: State;
  readonly vclusters: readonly VCluster[];
  /** The reservations of the previous cycle, by vCluster. */
  readonly reservations: Map<string, readonly Reservation[]>;
  /** The earliest reserved start that a waiting job was shown. */
  readonly reservedStarts: Map<AllocationId, Instant>;
  readonly caches: ReadonlyMap<string, CycleCache>;
  readonly rowOf: Map<AllocationId, number>;
  readonly running: Map<number, Placement>;
  readonly sizes: WaitingSizes;
  /** The nodes that a row needs. */
  readonly needOf: (row: number) => number;
  /** With jobs of several classes a cycle may preempt even when nothing fits. */
  readonly isOneClass: boolean;
}

function replay(trace: Trace, setup: LatticeSetup, onProgress: OnProgress): Outcomes {
  const state = createCluster(trace, setup);
  const vclusters = setup.profiles.map(({ vcluster }) => present(state.vcluster(vcluster), "a vCluster was refused"));
  const needOf = (row: number): number => Math.ceil((trace.size[row] as number) / setup.unit);
  const run: Replay = {
    trace,
    state,
    vclusters,
    reservations: new Map(),
    reservedStarts: new Map(),
    caches: new Map(vclusters.map(({ id }) => [id, createCycleCache()])),
    rowOf: new Map(),
    running: new Map(),
    sizes: createWaitingSizes(setup.inventory.nodes.length),
    needOf,
    isOneClass: trace.priority.every((priority) => priority === trace.priority[0]),
  };
  const submit = submitter(trace, setup, needOf);
  const outcomes = createOutcomes(trace.count);
  const ends = createEventTimes();
  let submitted = 0;
  let started = 0;
  const nextSubmit = (): number => trace.submit[submitted] ?? Number.POSITIVE_INFINITY;
  while (started < trace.count) {
    const now = Math.min(ends.nextTime(), nextSubmit());
    if (now === Number.POSITIVE_INFINITY) throw new Error(`${trace.count - started} jobs never started`);
    const first = submitted;
    while (submitted < trace.count && nextSubmit() <= now) submitted += 1;
    // A due end is void when the job was stopped meanwhile.
    const due = new Set(ends.takeUntil(now));
    const ended = [...due].filter((row) => run.running.has(row) && (outcomes.end[row] as number) <= now);
    dueCommands(run, now, { ended, first, submitted, submit });
    plans(run, now, {
      started(placement) {
        const row = present(run.rowOf.get(placement.allocation), `placed unknown ${placement.allocation}`);
        const end = now + (trace.run[row] as number);
        const reserved = run.reservedStarts.get(placement.allocation);
        if (reserved !== undefined) {
          outcomes.reserved += 1;
          if (atInstant(now) > reserved) outcomes.late += 1;
          run.reservedStarts.delete(placement.allocation);
        }
        run.rowOf.delete(placement.allocation);
        run.sizes.remove(needOf(row));
        run.running.set(row, placement);
        ends.add(end, row);
        outcomes.start[row] = now;
        outcomes.end[row] = end;
        outcomes.backfilled[row] = Number(placement.backfilled);
        started += 1;
      },
      stopped(allocation) {
        const row = rowRunning(run, allocation);
        run.running.delete(row);
        run.rowOf.set(allocation, row);
        run.sizes.add(needOf(row));
        outcomes.preemptions += 1;
        outcomes.stops[row] = (outcomes.stops[row] as number) + 1;
        outcomes.lost[row] = (outcomes.lost[row] as number) + now - (outcomes.start[row] as number);
        started -= 1;
      },
    });
    onProgress(started);
  }
  return outcomes;
}

function rowRunning({ running }: Replay, allocation: AllocationId): number {
  for (const [row, placement] of running) if (placement.allocation === allocation) return row;
  throw new Error(`${allocation} was stopped but did not run`);
}

/** The effects of a plan on the jobs, in the order in which they happen. */
interface PlanEffects {
  started(placement: Placement): void;
  stopped(allocation: AllocationId): void;
}

interface News {
  readonly ended: readonly number[];
  /** Rows from `first` up to, but without, `submitted` arrive. */
  readonly first: number;
  readonly submitted: number;
  readonly submit: (row: number) => Command;
}

/** Returns the ends and submissions of this instant as one entry. */
function dueCommands(run: Replay, now: number, { ended, first, submitted, submit }: News): void {
  const { state, rowOf, running, sizes, needOf } = run;
  const commands: Command[] = [];
  for (const row of ended) {
    addReports(commands, present(running.get(row), `row ${row} does not run`), "completed");
    running.delete(row);
  }
  const reports = commands.length;
  for (let row = first; row < submitted; row += 1) commands.push(submit(row));
  const applied = commit(state, now, commands);
  for (let row = first; row < submitted; row += 1) {
    rowOf.set(submittedId(applied, reports + row - first), row);
    sizes.add(needOf(row));
  }
}

function submittedId(applied: Applied, at: number): AllocationId {
  const outcome = applied.outcomes[at];
  if (outcome?.kind !== "accepted" || outcome.id === null) throw new Error("a submission got no id");
  return unchecked.allocation(outcome.id);
}

function submitter(trace: Trace, { profiles }: LatticeSetup, needOf: Replay["needOf"]): (row: number) => Command {
  const tenants = tenantsOf(trace);
  const standard = present(profiles[0], "there is no vCluster").vcluster;
  return (row) =>
    submitCommand(trace, {
      row,
      tenant: present(tenants[trace.tenant[row] as number], `row ${row} has no tenant`),
      nodes: needOf(row),
      vcluster: (trace.requests?.[row]?.vcluster ?? standard) as VCluster["id"],
    });
}

/** Rounds of preemption at one instant: each stops lower classes only, so few are needed. */
const ROUND_LIMIT = 64;

function plans(run: Replay, now: number, effects: PlanEffects): void {
  const { state, vclusters } = run;
  if (run.isOneClass && state.freeNodeCount < run.sizes.least()) return;
  for (const vcluster of vclusters) {
    // A victim's nodes are free at once, so the preemptor starts in the next round.
    for (let round = 0; round < ROUND_LIMIT && runCycle(run, now, vcluster, effects); round += 1);
  }
}

/** Runs one cycle and starts its placements. Returns true after a preemption, which needs another round. */
function runCycle(run: Replay, now: number, vcluster: VCluster, effects: PlanEffects): boolean {
  const { state, reservations } = run;
  if (hasNothingToDo(state, vcluster)) return false;
  const previous = reservations.get(vcluster.id) ?? [];
  const foreign = foreignReservations(vcluster.id, run, now);
  const external: ExternalInputs = {
    previousReservations: previous,
    foreignReservations: foreign,
    cache: present(run.caches.get(vcluster.id), "a vCluster without a cache"),
    report: "none",
  };
  const result = cycle(snapshotFor(state, vcluster, atInstant(now), undefined, external));
  reservations.set(vcluster.id, result.reservations);
  for (const { allocation, startsAt } of result.reservations) {
    const shown = run.reservedStarts.get(allocation);
    if (shown === undefined || startsAt < shown) run.reservedStarts.set(allocation, startsAt);
  }
  const { basis, placements, preemptions } = result;
  if (placements.length > 0) {
    const commands: Command[] = [{ kind: "plan.commit", vcluster: vcluster.id, basis, placements }];
    for (const placement of placements) addReports(commands, placement, "running");
    commit(state, now, commands);
    for (const placement of placements) effects.started(placement);
  }
  for (const { allocation, victims, nodes } of preemptions) {
    const commands: Command[] = [{ kind: "allocation.preempt", allocation, basis, victims: victims.map(refOf), nodes }];
    for (const victim of victims) {
      addReports(commands, present(run.running.get(rowRunning(run, victim.allocation)), "it runs"), "stopped");
    }
    commit(state, now, commands);
    for (const victim of victims) effects.stopped(victim.allocation);
  }
  return preemptions.length > 0;
}

const refOf = ({ allocation, attempt }: Victim): AttemptRef => ({ allocation, attempt });

/** Reservations of other vClusters whose owners still wait, on shared nodes. */
function foreignReservations(
  own: string,
  { reservations: byVCluster, rowOf }: Replay,
  now: number,
): readonly ForeignReservation[] {
  const foreign: ForeignReservation[] = [];
  for (const [vcluster, reservations] of byVCluster) {
    if (vcluster === own) continue;
    for (const { allocation, startsAt, endsAt = null, nodes } of reservations) {
      if (startsAt > atInstant(now) && rowOf.has(allocation)) foreign.push({ startsAt, endsAt, nodes });
    }
  }
  return foreign;
}

interface WaitingSizes {
  add(nodes: number): void;
  remove(nodes: number): void;
  /** Returns Infinity when no job waits. */
  least(): number;
}

function createWaitingSizes(most: number): WaitingSizes {
  const counts = new Int32Array(most + 1);
  let waiting = 0;
  /** No waiting job is smaller than this. */
  let from = most;
  return {
    add(nodes) {
      counts[nodes] = (counts[nodes] as number) + 1;
      waiting += 1;
      from = Math.min(from, nodes);
    },
    remove(nodes) {
      counts[nodes] = (counts[nodes] as number) - 1;
      waiting -= 1;
    },
    least() {
      if (waiting === 0) return Number.POSITIVE_INFINITY;
      while (counts[from] === 0) from += 1;
      return from;
    },
  };
}
