// plan.commit: turns a plan into claims. Each placement is accepted or rejected individually, in the plan's order;
// rejected allocations stay pending, and the next cycle tries again. Run orders follow from the committed claims:
// nothing starts before.

import { after, duration, type Instant, nextAttempt } from "../../base/ids.ts";
import type { Outcome, PlacementResult, Refusal } from "../../base/outcome.ts";
import { quote, refuse } from "../../base/outcome.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import type { NodeProgress } from "../../model/allocation/phase.ts";
import { isNoted, type NewNote, withNote, withRefusal } from "../../model/allocation/record-past.ts";
import type { Claim } from "../../model/node/node.ts";
import type { Placement, PlacementPlan } from "../../model/plan/placement.ts";
import { endOfTurns } from "../../queries/behind.ts";
import { allocationChanged, moveAllocation } from "../../transitions/allocation/move.ts";
import { takeClaims } from "../../transitions/claims/claims.ts";
import { joinDomain, refuseWithoutDomain } from "../../transitions/network/join.ts";
import type { Step } from "../../transitions/step.ts";
import { type Recheck, recheck } from "./recheck.ts";

export interface PlanCommand extends PlacementPlan {
  readonly kind: "plan.commit";
}

const ORDERED: NodeProgress = { state: "ordered", exitCode: null, message: "" };

export function commitPlan(step: Step, plan: PlanCommand): Outcome {
  if (step.state.vcluster(plan.vcluster) === undefined) {
    return refuse("unknown_vcluster", `there is no vCluster ${quote(plan.vcluster)}`);
  }
  const placements: PlacementResult[] = [];
  for (const placement of plan.placements) {
    const verdict = recheck(step, plan, placement);
    const barred = verdict.kind === "good" ? refuseWithoutDomain(step, verdict.record, verdict.nodes.length) : null;
    if (verdict.kind === "good" && barred !== null) holdForDomain(step, verdict.record, barred);
    else if (verdict.kind === "good") place(step, placement, verdict);
    else if (verdict.kind === "refused") noteRefusal(step, plan, placement, verdict.refusal);
    placements.push({
      allocation: placement.allocation,
      refusal: verdict.kind === "good" ? barred : verdict.refusal,
    });
  }
  return { kind: "accepted", id: null, placements };
}

type Good = Extract<Recheck, { readonly kind: "good" }>;

function place(step: Step, placement: Placement, { record: before, nodes, share }: Good): void {
  const record = withoutPlacement(before);
  const attempt = nextAttempt(record.attempt);
  const { tenant, vcluster } = record.spec;
  const owner = { allocation: record.id, attempt, tenant, vcluster, releasing: false, since: step.at };
  // The work in front may have ended meanwhile.
  const waits = placement.behind === true && nodes[0]?.claims.length !== 0;
  const behind = waits ? { behind: true as const } : null;
  const claim: Claim =
    share === null ? { ...owner, exclusive: true, ...behind } : { ...owner, exclusive: false, share };
  const turnBy = behind === null ? null : turnOf(step, nodes);
  takeClaims(step, placement.nodes, nodes, claim);
  for (const node of nodes) step.effects.push({ kind: "run", node: node.id, allocation: record.id, attempt });
  const progress = nodes.map(() => ORDERED);
  const phase = { kind: "staging", nodes: placement.nodes, placedAt: step.at, progress, ...turnBy } as const;
  const { scores, backfilled } = placement;
  const moved = moveAllocation(step, record, phase, {
    attempt,
    scores,
    backfilled,
    ...joinDomain(step, record, nodes.length),
    ...(share === null ? null : { share }),
  });
  const last = moved.checkpoints?.last;
  if (last === undefined) return;
  const text = `It continues from checkpoint ${last.n}.`;
  step.state.putAllocation(withNote(moved, { type: "state", kind: "resumed", text }, step));
}

/** Before the claim is taken: the latest end of those in front. */
function turnOf({ state }: Step, [node]: Good["nodes"]): { readonly turnBy: Instant } | null {
  const turnBy = node === undefined ? null : endOfTurns(state, node);
  return turnBy === null ? null : { turnBy };
}

/** The share and the domain belonged to an earlier placement and may differ now. */
function withoutPlacement(record: Allocation): Allocation {
  if (record.share === undefined && record.network === undefined) return record;
  const { share: _share, network: _network, ...rest } = record;
  return rest;
}

/** An exhausted pool is retried after a delay, not in every cycle. */
const DOMAIN_PAUSE = duration(5_000);

function holdForDomain(step: Step, record: Allocation, { detail }: Refusal): void {
  if (record.phase.kind !== "pending") return;
  const phase = { ...record.phase, backoffUntil: after(step.at, DOMAIN_PAUSE), backoffReason: detail };
  const note: NewNote = { type: "decision", kind: "vni_wait", text: `It waits for a network domain: ${detail}.` };
  const held = { ...(isNoted(record, note) ? record : withNote(record, note, step)), phase };
  step.state.putAllocation(held);
  step.events.push({ ...allocationChanged(held, "pending"), reason: "vni_pool_exhausted", message: detail });
}

function noteRefusal(step: Step, plan: PlanCommand, placement: Placement, refusal: Refusal): void {
  const record = step.state.allocation(placement.allocation);
  // An allocation that no longer waits, or already has a backoff, gets no refusal.
  const waits =
    record?.phase.kind === "pending" && record.hold === undefined && (record.phase.backoffUntil ?? step.at) <= step.at;
  const noted = waits ? withRefusal(record, { ...refusal, basis: plan.basis }, step) : record;
  if (noted !== undefined && noted !== record) step.state.putAllocation(noted);
  step.events.push({
    kind: "placement_refused",
    allocation: placement.allocation,
    attempt: placement.attempt,
    vcluster: plan.vcluster,
    reason: refusal.code,
    message: refusal.detail,
  });
}
