// The real thing in virtual time: the trace's jobs become commands, `applyEntry` folds them into a real
// state, and the real scheduling cycle plans over its view. At each instant all ends, then all
// submissions in one entry; then one cycle per vCluster, each committed in another, so that no two plans
// collide.

import {
  type AllocationId,
  type Applied,
  type AttemptRef,
  type Command,
  type Placement,
  present,
  type State,
  type VCluster,
} from "@lattice/core";
import {
  createReuse,
  cycle,
  type ForeignReservation,
  nothingToDo,
  type Reservation,
  type Reuse,
  snapshotFor,
  type Victim,
} from "@lattice/scheduler";
import type { Trace } from "../../trace/trace.ts";
import { createOutcomes, type OnProgress, type Outcomes, type Policy } from "../policy.ts";
import { addReports, atInstant, commit, createCluster } from "./cluster.ts";
import { submitCommand, tenantsOf } from "./commands.ts";
import { createEventTimes } from "./event-times.ts";
import type { LatticeSetup } from "./setup.ts";
import { createWaitingSizes, type WaitingSizes } from "./waiting-sizes.ts";

export const latticeOn =
  (setup: LatticeSetup): Policy =>
  (trace, onProgress) =>
    replay(trace, setup, onProgress);

/** A replay on its way. */
interface Replay {
  readonly trace: Trace;
  readonly state: State;
  readonly vclusters: readonly VCluster[];
  /** What the cycle before promised, per vCluster. */
  readonly promised: Map<string, readonly Reservation[]>;
  readonly reuses: ReadonlyMap<string, Reuse>;
  readonly rowOf: Map<AllocationId, number>;
  readonly running: Map<number, Placement>;
  readonly sizes: WaitingSizes;
  /** Nodes that a row needs. */
  readonly needOf: (row: number) => number;
  /** With jobs of several classes a cycle may have something to do even when nothing fits. */
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
    promised: new Map(),
    reuses: new Map(vclusters.map(({ id }) => [id, createReuse()])),
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
    // An end that was due is none where the job was stopped meanwhile.
    const due = new Set(ends.takeUntil(now));
    const ended = [...due].filter((row) => run.running.has(row) && (outcomes.end[row] as number) <= now);
    news(run, now, { ended, first, submitted, submit });
    plans(run, now, {
      begun(placement) {
        const row = present(run.rowOf.get(placement.allocation), `placed unknown ${placement.allocation}`);
        const end = now + (trace.run[row] as number);
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

/** What a plan means for the jobs: told in the order in which it happens. */
interface Happenings {
  begun(placement: Placement): void;
  stopped(allocation: AllocationId): void;
}

interface News {
  readonly ended: readonly number[];
  /** Rows from `first` up to, but without, `submitted` arrive. */
  readonly first: number;
  readonly submitted: number;
  readonly submit: (row: number) => Command;
}

/** What has happened by this instant, as one entry. */
function news(run: Replay, now: number, { ended, first, submitted, submit }: News): void {
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
  return outcome.id as AllocationId;
}

function submitter(trace: Trace, { profiles }: LatticeSetup, needOf: Replay["needOf"]): (row: number) => Command {
  const tenants = tenantsOf(trace);
  const standard = present(profiles[0], "there is no vCluster").vcluster;
  return (row) =>
    submitCommand(trace, {
      row,
      tenant: present(tenants[trace.tenant[row] as number], `row ${row} has no tenant`),
      nodes: needOf(row),
      vcluster: (trace.asks?.[row]?.vcluster ?? standard) as VCluster["id"],
    });
}

/** Rounds of stopping and starting at one instant: each stops lower classes only, so few are ever needed. */
const MOST_ROUNDS = 64;

function plans(run: Replay, now: number, tell: Happenings): void {
  const { state, vclusters } = run;
  if (run.isOneClass && state.freeNodeCount < run.sizes.least()) return;
  for (const vcluster of vclusters) {
    // Nodes are free as soon as their work is told to stop, so whom it was for starts at once.
    for (let round = 0; round < MOST_ROUNDS && planOne(run, now, vcluster, tell); round += 1);
  }
}

/** One cycle; what it starts runs at once on every node. True when others were stopped, and it should be asked again. */
function planOne(run: Replay, now: number, vcluster: VCluster, tell: Happenings): boolean {
  const { state, promised } = run;
  if (nothingToDo(state, vcluster)) return false;
  const previous = promised.get(vcluster.id) ?? [];
  const foreign = foreignTo(vcluster.id, run, now);
  const reuse = present(run.reuses.get(vcluster.id), "a vCluster has nothing to reuse");
  const beyond = { previous, foreign, reuse, report: "none" as const };
  const decided = cycle(snapshotFor(state, vcluster, atInstant(now), undefined, beyond));
  promised.set(vcluster.id, decided.reservations);
  const { basis, placements, preemptions } = decided;
  if (placements.length > 0) {
    const commands: Command[] = [{ kind: "plan.commit", vcluster: vcluster.id, basis, placements }];
    for (const placement of placements) addReports(commands, placement, "running");
    commit(state, now, commands);
    for (const placement of placements) tell.begun(placement);
  }
  for (const { allocation, victims, nodes } of preemptions) {
    const commands: Command[] = [{ kind: "allocation.preempt", allocation, basis, victims: victims.map(refOf), nodes }];
    for (const victim of victims) {
      addReports(commands, present(run.running.get(rowRunning(run, victim.allocation)), "it runs"), "stopped");
    }
    commit(state, now, commands);
    for (const victim of victims) tell.stopped(victim.allocation);
  }
  return preemptions.length > 0;
}

const refOf = ({ allocation, attempt }: Victim): AttemptRef => ({ allocation, attempt });

/** What others have promised to those that still wait, on nodes they share with this one. */
function foreignTo(own: string, { promised, rowOf }: Replay, now: number): readonly ForeignReservation[] {
  const foreign: ForeignReservation[] = [];
  for (const [vcluster, reservations] of promised) {
    if (vcluster === own) continue;
    for (const { allocation, startsAt, endsAt = null, nodes } of reservations) {
      if (startsAt > atInstant(now) && rowOf.has(allocation)) foreign.push({ startsAt, endsAt, nodes });
    }
  }
  return foreign;
}
