// Explains why an allocation waits, from the newest cycle of its vCluster or, when that is too old, from a fresh one.
// Suggestions are trials on the same record within a time budget.

import { type AllocationId, type AllocationSpec, type Instant, judgeSubmission, type VClusterId } from "@lattice/core";
import {
  type CycleRecord,
  cycle,
  explain,
  recordCycle,
  type Suggestion,
  suggestions,
  TRIAL_BUDGET_MS,
} from "@lattice/scheduler";
import type { ExplainedAllocation } from "./answers.ts";
import type { CallFacts } from "./messages.ts";
import { nowOf, type PlannerState, snapshotAt } from "./state.ts";

/** An idle queue gets a cycle at least this often; an older record is replaced before it answers. */
const RECORD_AGE_MS = 35_000;

interface SuggestionRequest {
  readonly id: AllocationId;
  readonly expected: Instant | null;
  readonly spec: AllocationSpec | null;
}

/** Returns `null` when the allocation is not pending. */
export function explainAllocation(state: PlannerState, id: AllocationId, facts: CallFacts): ExplainedAllocation | null {
  const { cycles, records } = state;
  const view = state.parts.view();
  const record = view.allocation(id);
  if (record?.phase.kind !== "pending") return null;
  const vcluster = view.vcluster(record.spec.vcluster);
  if (vcluster === undefined) return null;
  const at = nowOf(state, facts);
  const known = records.get(vcluster.id);
  const isFresh = known !== undefined && at - known.input.now < RECORD_AGE_MS;
  const explained = isFresh ? explain(known, id) : null;
  if (isFresh && explained !== null) return withSuggestions(state, known, explained);
  const { record: fresh, result } = recordCycle({
    ...snapshotAt(state, { vcluster, at, budgetDays: facts.budgetDays }),
    report: "full",
  });
  if (fresh === null) return null;
  records.set(vcluster.id, fresh);
  if (!cycles.has(vcluster.id)) cycles.set(vcluster.id, result);
  const explanation = explain(fresh, id);
  return explanation === null ? null : withSuggestions(state, fresh, explanation);
}

function withSuggestions(
  state: PlannerState,
  record: CycleRecord,
  explanation: ExplainedAllocation["explanation"],
): ExplainedAllocation {
  const { allocation: id, vcluster, startsNow, queue } = explanation;
  const estimate = record.result.estimates.get(id) ?? state.cycles.get(vcluster)?.estimates.get(id) ?? null;
  const expected = startsNow ? explanation.at : (queue.reservation?.startsAt ?? estimate);
  const spec = state.parts.view().allocation(id)?.spec ?? null;
  return {
    explanation: {
      ...explanation,
      queue: { ...queue, reservation: isReserved(state, id, vcluster) ? queue.reservation : null },
    },
    expected,
    errorMs: state.estimates.typicalErrorMs(vcluster),
    sooner: startsNow ? [] : suggestionsFor(state, record, { id, expected, spec }),
  };
}

/** Only a reservation of the loop's own cycle counts; one of this answer alone is not committed. */
const isReserved = ({ cycles }: PlannerState, id: AllocationId, vcluster: VClusterId): boolean =>
  cycles.get(vcluster)?.reservations.some(({ allocation }) => allocation === id) === true;

/** Returns changes with which the allocation would start earlier. */
export function suggestionsFor(
  state: PlannerState,
  record: CycleRecord,
  { id, expected, spec }: SuggestionRequest,
): readonly Suggestion[] {
  const { clock } = state.parts;
  const deadline = clock.worked() + TRIAL_BUDGET_MS;
  return suggestions(record, id, {
    expected,
    others: spec === null ? [] : otherRecords(state, record, spec),
    cycle,
    canContinue: () => clock.worked() < deadline,
  });
}

/** Returns the records of other vClusters that would accept the allocation unchanged. */
function otherRecords({ records, parts }: PlannerState, { input }: CycleRecord, spec: AllocationSpec): CycleRecord[] {
  return [...records.values()].filter((record) => {
    const { vcluster } = record.input;
    if (vcluster === input.vcluster || input.now - record.input.now > RECORD_AGE_MS) return false;
    const judged = judgeSubmission(parts.view(), { spec: { ...spec, vcluster }, createTenant: false }, input.now);
    return judged.kind === "good";
  });
}
