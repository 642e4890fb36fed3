// The real thing in virtual time: the trace's jobs become commands, `applyEntry` folds them into a real
// state, and the real scheduling cycle plans over its view. Every processor of the trace is a node. At
// each instant all ends, then all submissions in one entry; then one cycle, committed in another.

import {
  type AllocationId,
  type Applied,
  type Attempt,
  applyEntry,
  attempt as attemptNumber,
  type Command,
  createState,
  ENTRY_VERSION,
  instant,
  logIndex,
  type NodeId,
  type Placement,
  present,
  type State,
  term,
  type VCluster,
} from "@lattice/core";
import { cycle, nothingToDo, snapshotFor } from "@lattice/scheduler";
import { createEventTimes } from "./event-times.ts";
import { machineCommands, REPLAY_VCLUSTER, submitCommand, tenantsOf } from "./lattice-commands.ts";
import type { Outcome, Policy } from "./policy.ts";

export const lattice: Policy = (trace, onProgress) => {
  const state = createState();
  commit(state, 0, machineCommands(trace));
  const vcluster = present(state.vcluster(REPLAY_VCLUSTER), "the replayed vCluster was refused");

  const { jobs } = trace;
  const tenants = tenantsOf(trace);
  const ends = createEventTimes();
  const held = new Map<number, Placement>();
  const numberOf = new Map<AllocationId, number>();
  const outcomes: Outcome[] = new Array(jobs.length);
  let submitted = 0;
  let started = 0;
  const nextSubmit = (): number => jobs[submitted]?.submit ?? Number.POSITIVE_INFINITY;
  while (ends.size > 0 || submitted < jobs.length) {
    const now = Math.min(ends.nextTime(), nextSubmit());
    const finished = ends.takeUntil(now);
    const first = submitted;
    while (nextSubmit() <= now) submitted += 1;
    const news = jobs.slice(first, submitted);
    const reports = finished.flatMap((number) => reportsOf(held.get(number), "completed"));
    const applied = commit(state, now, [
      ...reports,
      ...news.map((job) => submitCommand(job, present(tenants.get(job.user), `user ${job.user} has no tenant`))),
    ]);
    for (const number of finished) held.delete(number);
    for (const at of news.keys()) numberOf.set(submittedId(applied, reports.length + at), first + at);

    for (const placement of plan(state, vcluster, now)) {
      const number = present(numberOf.get(placement.allocation), `placed unknown ${placement.allocation}`);
      const job = present(jobs[number], `job ${number} does not exist`);
      numberOf.delete(placement.allocation);
      held.set(number, placement);
      ends.add(now + job.run, number);
      outcomes[number] = { job, start: now, end: now + job.run, backfilled: placement.backfilled };
      started += 1;
    }
    onProgress(started);
  }
  if (started !== jobs.length) throw new Error(`${jobs.length - started} jobs never started`);
  return outcomes;
};

/** One cycle; what it starts runs at once on every node. */
function plan(state: State, vcluster: VCluster, now: number): readonly Placement[] {
  if (nothingToDo(state, vcluster)) return [];
  const { placements, basis } = cycle(snapshotFor(state, vcluster, atInstant(now)));
  if (placements.length === 0) return [];
  const running = placements.flatMap((placement) => reportsOf(placement, "running"));
  const planned: Command = { kind: "plan.commit", vcluster: vcluster.id, basis, placements };
  commit(state, now, [planned, ...running]);
  return placements;
}

function reportsOf(placement: Placement | undefined, state: "running" | "completed"): Command[] {
  if (placement === undefined) return [];
  const { allocation, attempt, nodes } = placement;
  return nodes.map((node) => report({ allocation, attempt, node, state }));
}

interface Word {
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
  readonly node: NodeId;
  readonly state: "running" | "completed";
}

function report({ allocation, attempt, node, state }: Word): Command {
  const exitCode = state === "completed" ? 0 : null;
  return {
    kind: "attempt.report",
    node,
    allocation,
    attempt: attemptNumber(attempt),
    state,
    exitCode,
    reason: null,
    message: "",
  };
}

const atInstant = (seconds: number) => instant(Math.round(seconds * 1000));

/** Appends one entry. In a replay nothing may be refused: a refusal is a fault of this program. */
function commit(state: State, seconds: number, commands: readonly Command[]): Applied {
  const applied = applyEntry(state, {
    index: logIndex(state.index + 1),
    term: term(1),
    version: ENTRY_VERSION,
    at: atInstant(seconds),
    prevHash: "",
    commands,
  });
  for (const outcome of applied.outcomes) {
    if (outcome.kind === "rejected") throw new Error(`refused: ${outcome.refusal.detail}`);
    const refused = outcome.placements?.find((placement) => placement.refusal !== null);
    if (refused?.refusal) throw new Error(`placement of ${refused.allocation} refused: ${refused.refusal.detail}`);
  }
  return applied;
}

function submittedId(applied: Applied, at: number): AllocationId {
  const outcome = applied.outcomes[at];
  if (outcome?.kind !== "accepted" || outcome.id === null) throw new Error("a submission got no id");
  return outcome.id as AllocationId;
}
