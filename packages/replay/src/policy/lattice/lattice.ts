// The real thing in virtual time: the trace's jobs become commands, `applyEntry` folds them into a real
// state, and the real scheduling cycle plans over its view. At each instant all ends, then all
// submissions in one entry; then one cycle per vCluster, each committed in another, so that no two plans
// collide.

import {
  type AllocationId,
  type Applied,
  type Command,
  type Placement,
  present,
  type State,
  type VCluster,
} from "@lattice/core";
import { cycle, type ForeignReservation, nothingToDo, type Reservation, snapshotFor } from "@lattice/scheduler";
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
  readonly rowOf: Map<AllocationId, number>;
  readonly running: Map<number, Placement>;
  readonly sizes: WaitingSizes;
  /** Nodes that a row needs. */
  readonly needOf: (row: number) => number;
  /** With jobs of several classes a cycle may have something to do even when nothing fits. */
  readonly isOneClass: boolean;
}

function replay(trace: Trace, setup: LatticeSetup, onProgress: OnProgress): Outcomes {
  const state = createCluster(setup);
  const vclusters = setup.profiles.map(({ vcluster }) => present(state.vcluster(vcluster), "a vCluster was refused"));
  const needOf = (row: number): number => Math.ceil((trace.size[row] as number) / setup.unit);
  const run: Replay = {
    trace,
    state,
    vclusters,
    promised: new Map(),
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
    news(run, now, { ended: ends.takeUntil(now), first, submitted, submit });
    for (const placement of plans(run, now)) {
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
    }
    onProgress(started);
  }
  return outcomes;
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
      tenant: present(tenants[trace.user[row] as number], `row ${row} has no user`),
      nodes: needOf(row),
      vcluster: (trace.asks?.[row]?.vcluster ?? standard) as VCluster["id"],
    });
}

/** One cycle per vCluster; what it starts runs at once on every node. */
function plans(run: Replay, now: number): readonly Placement[] {
  const { state, vclusters, promised } = run;
  const started: Placement[] = [];
  if (run.isOneClass && state.freeNodeCount < run.sizes.least()) return started;
  for (const vcluster of vclusters) {
    if (nothingToDo(state, vcluster)) continue;
    const previous = promised.get(vcluster.id) ?? [];
    const foreign = foreignTo(vcluster.id, run, now);
    const decided = cycle(snapshotFor(state, vcluster, atInstant(now), undefined, { previous, foreign }));
    promised.set(vcluster.id, decided.reservations);
    if (decided.placements.length === 0) continue;
    const { basis, placements } = decided;
    const commands: Command[] = [{ kind: "plan.commit", vcluster: vcluster.id, basis, placements }];
    for (const placement of placements) addReports(commands, placement, "running");
    commit(state, now, commands);
    for (const placement of placements) started.push(placement);
  }
  return started;
}

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
