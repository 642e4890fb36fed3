// Plans cycles and answers questions about waiting work, over a view of the state. It commits nothing and waits for
// nothing; what it knows besides the view comes with the calls. The server runs it in a thread of its own.

import { type Instant, isQueued, type VClusterId, type View, waitReasons } from "@lattice/core";
import {
  type CycleResult,
  type PendingReason,
  placementsBehind,
  type Reservation,
  reasonsFor,
  recordCycle,
  snapshotFor,
} from "@lattice/scheduler";
import type { Clock } from "../../base/clock.ts";
import type { NumberedEvent } from "../../state/events/cursor.ts";
import { explainAllocation } from "./explain.ts";
import type {
  CallFacts,
  CycleReply,
  PlannerAnswer,
  PlannerQuestion,
  PlannerQuestionKind,
  ReportChange,
} from "./messages.ts";
import { packNumbers, packTexts } from "./packed.ts";
import { planSubmission } from "./plan.ts";
import { queuePage } from "./queue.ts";
import {
  createPlannerState,
  isPending,
  measuredInputs,
  type PlannerParts,
  type PlannerState,
  snapshotAt,
} from "./state.ts";

export interface Planner {
  /** Continues with the reservations of an earlier planner. */
  carryOver(reservations: ReadonlyMap<VClusterId, readonly Reservation[]>): void;
  /** Returns `null` when there is no such vCluster. */
  cycle(vcluster: VClusterId, facts: CallFacts): CycleReply | null;
  /** Throws a RefusedError when the rules refuse the request. */
  answer<K extends PlannerQuestionKind>(question: PlannerQuestion<K>, facts: CallFacts): PlannerAnswer<K>;
  onEvents(events: readonly Pick<NumberedEvent, "at" | "event">[]): void;
}

/** Called after each cycle, with the view that it was planned from. */
export type ObserveCycle = (view: View, result: CycleResult, at: Instant) => void;

export function createPlanner(parts: PlannerParts, onCycle: ObserveCycle = () => undefined): Planner {
  const state = createPlannerState(parts);
  const reservations = createReservationList();
  return {
    carryOver(earlier) {
      for (const [vcluster, list] of earlier) {
        state.memory.carryOver(vcluster, list);
        reservations.know(vcluster, list);
      }
    },
    cycle(vcluster, facts) {
      const planned = runCycle(state, vcluster, facts);
      if (planned === null) return null;
      onCycle(parts.view(), planned.result, facts.now);
      return { ...planned.reply, reservations: reservations.changes(planned.result) };
    },
    answer: <K extends PlannerQuestionKind>(question: PlannerQuestion<K>, facts: CallFacts) =>
      answer(state, question as PlannerQuestion, facts) as PlannerAnswer<K>,
    onEvents: state.estimates.onEvents,
  };
}

interface PlannedCycle {
  readonly result: CycleResult;
  readonly reply: Omit<CycleReply, "reservations">;
}

function runCycle(state: PlannerState, id: VClusterId, { now, budgetDays }: CallFacts): PlannedCycle | null {
  const { parts, memory, cycles, records, lastAt, estimates } = state;
  const { clock, isReachable } = parts;
  const view = parts.view();
  const vcluster = view.vcluster(id);
  if (vcluster === undefined) return null;
  const began = clock.worked();
  const scoring = createStopwatch(clock);
  const external = { now, foreignReservations: [], isReachable, ...memory.externalInputs(vcluster, now) };
  const { result, record } = recordCycle(
    snapshotFor(view, vcluster, now, isReachable, {
      ...external,
      ...measuredInputs(state),
      budgetDays,
      timed: (_what, run) => scoring.timed(run),
    }),
  );
  const costMs = clock.worked() - began;
  const { extended, isFull } = memory.recordResult(result, now, costMs);
  cycles.set(id, extended);
  lastAt.set(id, now);
  if (record !== null) records.set(id, record);
  estimates.recordEstimates(result, view);
  const { basis, preemptions, considered } = result;
  const placements = [...result.placements, ...placementsBehind(view, vcluster, result, external)];
  const report = isFull ? fullReport(result) : briefReport(result);
  const reportDueAt = memory.reportDueAt(vcluster);
  const scoringMs = scoring.ms();
  const reply = { vcluster: id, at: now, basis, placements, preemptions, considered, report, reportDueAt };
  return { result: extended, reply: { ...reply, costMs, scoringMs } };
}

const fullReport = ({ estimates, reasons }: CycleResult): ReportChange => ({
  kind: "full",
  estimates: packNumbers(estimates, estimates.size),
  reasons: packTexts(reasons),
});

const briefReport = ({ estimates, reasons }: CycleResult): ReportChange => ({ kind: "brief", estimates, reasons });

function createStopwatch(clock: Pick<Clock, "worked">) {
  let total = 0;
  return {
    ms: () => total,
    timed<T>(run: () => T): T {
      const start = clock.worked();
      const made = run();
      total += clock.worked() - start;
      return made;
    },
  };
}

/** The reservations in the last reply: one that a cycle carries over unchanged is sent as its place in that reply. */
function createReservationList() {
  const sent = new Map<VClusterId, readonly Reservation[]>();
  return {
    know: (vcluster: VClusterId, list: readonly Reservation[]): void => void sent.set(vcluster, list),
    changes({ vcluster, reservations }: CycleResult): readonly (Reservation | number)[] {
      const places = new Map((sent.get(vcluster) ?? []).map((reservation, at) => [reservation, at]));
      sent.set(vcluster, reservations);
      return reservations.map((reservation) => places.get(reservation) ?? reservation);
    },
  };
}

function answer(state: PlannerState, question: PlannerQuestion, facts: CallFacts): PlannerAnswer<PlannerQuestionKind> {
  const { parts, cycles, lastAt } = state;
  switch (question.kind) {
    case "explain":
      return explainAllocation(state, question.id, facts);
    case "plan":
      return planSubmission(state, question, facts);
    case "queue":
      return queuePage(parts.view(), cycles, lastAt, question);
    case "reasons":
      return currentReasons(state, question, facts);
    case "waiting":
      return new Map([...cycles].map(([id, result]) => [id, waitingByReason(parts.view(), result)]));
  }
}

function currentReasons(
  state: PlannerState,
  { id }: PlannerQuestion<"reasons">,
  { now, budgetDays }: CallFacts,
): readonly PendingReason[] {
  const view = state.parts.view();
  const allocation = view.allocation(id);
  if (allocation?.phase.kind !== "pending") return [];
  if (!isQueued(allocation)) return waitReasons(view, allocation);
  const vcluster = view.vcluster(allocation.spec.vcluster);
  if (vcluster === undefined) return [];
  return (
    state.cycles.get(vcluster.id)?.reasons.get(id) ??
    reasonsFor(snapshotAt(state, { vcluster, at: now, budgetDays }), id)
  );
}

/** A report may still contain allocations that are no longer pending. */
function waitingByReason(view: View, { reasons }: CycleResult): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [id, [first]] of reasons)
    if (first !== undefined && isPending(view, id)) counts[first.code] = (counts[first.code] ?? 0) + 1;
  return counts;
}
