// One scheduling cycle for one vCluster, as a list of steps over one snapshot: order the queue, keep what
// was promised, find candidates, place, reserve for who cannot start, backfill around the
// reservations, explain and estimate the rest. It decides and commits nothing: `apply` rechecks every
// placement of the plan.

import type { AllocationId, Instant, NodeId, Placement } from "@lattice/core";
import type { CycleInput, CycleResult, PendingReason, Reservation } from "./cycle-types.ts";
import type { Decided } from "./decided.ts";
import { commit, commitJoin, type Draft, draftOf, type Held } from "./draft.ts";
import { exchange, type Started } from "./exchange.ts";
import { type Study, studyOf } from "./explain/study.ts";
import { explainer } from "./explain.ts";
import { byStart } from "./held.ts";
import { type Job, jobOf } from "./job.ts";
import { FULL_MACHINE_QUEUE_LIMIT, MOVE_LIMIT } from "./limits.ts";
import { machineOf } from "./machine/machine.ts";
import { orderQueue, type Queue } from "./order.ts";
import { mayJoin, packingOf } from "./place/join.ts";
import { settleAwaiting } from "./preempt/awaiting.ts";
import { makeRoom } from "./preempt/preempt.ts";
import { holdForeign, keepPromises, nodeIdsOf } from "./promises.ts";
import { type Ledger, ledgerOf } from "./quota.ts";
import { report } from "./report.ts";
import { letGo } from "./reserve.ts";
import { placedScores, type ScoreBasis, scoreBasis, totalMilli } from "./score/score.ts";
import { createSpace, type Space, spaceLeft } from "./space.ts";
import { walk } from "./walk.ts";

/** Nothing of it is kept but the result, so what it was made in serves the next one that is given the same reuse. */
export function cycle(input: CycleInput): CycleResult {
  const space = input.reuse === undefined ? undefined : spaceLeft(input.reuse, input.nodes.length);
  return resultOf(input, decide(input, space));
}

export interface Concluded {
  readonly result: CycleResult;
  /** For questions about it; null when the queue was not even ordered. */
  readonly study: Study | null;
}

/** A cycle, kept for explanations and trials. */
export function conclude(input: CycleInput): Concluded {
  const decided = decide(input);
  const result = resultOf(input, decided);
  return { result, study: studyOf(input, decided, result) };
}

function resultOf(input: CycleInput, decided: Decided): CycleResult {
  const { draft, placements, preemptions, considered } = decided;
  const { reasons, estimates, scores } = report(input, decided);
  return {
    vcluster: input.vcluster,
    basis: input.basis,
    placements,
    preemptions,
    reservations: [...draft.held].sort(byStart).map((held) => held.promise ?? promiseOf(draft, held)),
    reasons,
    estimates,
    scores,
    considered,
  };
}

const promiseOf = (draft: Draft, held: Held): Reservation => ({
  allocation: held.job.input.id,
  startsAt: held.startsAt,
  nodes: nodeIdsOf(draft, held.nodes),
  endsAt: Number.isFinite(held.endsAt) ? (held.endsAt as Instant) : null,
});

/** Why this allocation is pending, for those beyond what `cycle` explains; empty when it would start now. */
export function reasonsFor(input: CycleInput, id: AllocationId): readonly PendingReason[] {
  const pending = input.pending.find((job) => job.id === id);
  if (pending === undefined) return [];
  const decided = decide(input);
  if (decided.draft.placed.has(id)) return [];
  return explainer(decided).reasons(jobOf(decided.draft.machine, pending, input.signals));
}

function decide(input: CycleInput, space: Space = createSpace(input.nodes.length)): Decided {
  const machine = machineOf(input, space);
  const draft = draftOf(machine, input, { space, movesLeft: MOVE_LIMIT });
  const ledger = ledgerOf(input);
  const brief = input.report !== "full";
  const packing = packingOf(draft, input);
  if (brief && draft.freeCount === 0 && !packing.any && input.pending.length > FULL_MACHINE_QUEUE_LIMIT) {
    const queue = asGiven(draft, input);
    return {
      draft,
      ledger,
      placements: [],
      preemptions: [],
      considered: 0,
      otherwise: "not_considered",
      queue,
      basis: null,
      exchanged: NOBODY,
    };
  }
  const basis = scoreBasis(input, machine);
  const queue = orderQueue(input, basis);
  holdForeign(draft, input);
  const placements: Placement[] = [];
  const begun: Started[] = [];
  const start = (job: Job, nodes: readonly number[], backfilled = false): void => {
    const placement = place({ draft, ledger, basis }, job, nodes, backfilled);
    placements.push(placement);
    begun.push({ job, nodes });
    if (job.input.shares === true) for (const node of placement.nodes) packing.opened(job, node);
  };
  const join = (job: Job): boolean => {
    const node = ledger.shortage(job.input.tenant, 0) === null ? packing.join(job) : null;
    if (node !== null) placements.push(joined({ draft, ledger, basis }, job, node));
    return node !== null;
  };
  const awaited = settleAwaiting(draft, input, ledger, start);
  const lost = keepPromises(draft, input, { queue, ledger });
  const { considered, otherwise } = walk(input, { draft, ledger, queue, start, join, awaited, lost });
  const exchanged = exchanges(input, { draft, ledger, basis, queue, begun, placements, awaited });
  // Who was not drawn because no node is free may still share one.
  if (packing.any) for (const job of queue.those(mayJoin(draft.placed))) join(job);
  const preemptions =
    input.until === undefined
      ? makeRoom(input, { draft, ledger, queue, awaited: new Set([...awaited, ...exchanged.keys()]) })
      : [];
  return { draft, ledger, placements, preemptions, considered, otherwise, queue, basis, exchanged };
}

const NOBODY: ReadonlyMap<AllocationId, readonly AllocationId[]> = new Map();

interface Ground {
  readonly draft: Draft;
  readonly ledger: Ledger;
  readonly basis: ScoreBasis;
}

function place(ground: Ground, job: Job, nodes: readonly number[], backfilled: boolean): Placement {
  commit(ground.draft, job, nodes);
  ground.ledger.charge(job.input.tenant, nodes.length);
  return placementOf(ground, job, nodes, backfilled);
}

function placementOf({ draft, basis }: Ground, job: Job, nodes: readonly number[], backfilled: boolean): Placement {
  const { id, nextAttempt } = job.input;
  const scores = placedScores(basis, job, nodes);
  const shared = job.input.shares === true ? { shared: true as const } : null;
  return { allocation: id, attempt: nextAttempt, nodes: nodeIdsOf(draft, nodes), scores, backfilled, ...shared };
}

/** It takes nothing that anybody else could have now: its place in the queue and its own promise go. */
function joined({ draft, ledger, basis }: Ground, job: Job, node: NodeId): Placement {
  const { id, tenant, nextAttempt } = job.input;
  const promise = draft.held.find((one) => one.job.input.id === id);
  if (promise !== undefined) letGo(draft, promise);
  ledger.charge(tenant, 0);
  // Rooms are on nodes of the machine alone.
  const index = draft.machine.indexOf.get(node) as number;
  commitJoin(draft, job, index);
  const scores = placedScores(basis, job, [index]);
  return { allocation: id, attempt: nextAttempt, nodes: [node], scores, backfilled: false, shared: true };
}

interface Exchanging extends Ground {
  readonly queue: Queue;
  readonly begun: readonly Started[];
  readonly placements: Placement[];
  readonly awaited: ReadonlySet<AllocationId>;
}

/** Who gave up its place, and to whom; the placements are brought up to date. */
function exchanges(
  input: CycleInput,
  { queue, begun, placements, awaited, ...ground }: Exchanging,
): Decided["exchanged"] {
  const { draft, ledger, basis } = ground;
  const exchanged = new Map<AllocationId, readonly AllocationId[]>();
  const scoreOf = (job: Job): number => totalMilli(basis, job);
  for (const { out, instead } of exchange(input, { draft, ledger, queue, begun, awaited, scoreOf })) {
    const at = placements.findIndex(({ allocation }) => allocation === out.job.input.id);
    placements.splice(at, 1, ...instead.map(({ job, nodes }) => placementOf(ground, job, nodes, true)));
    exchanged.set(
      out.job.input.id,
      instead.map(({ job }) => job.input.id),
    );
  }
  return exchanged;
}

/** Nobody is drawn from it; it is told in the order given. */
function asGiven(draft: Draft, { pending, signals }: CycleInput): Queue {
  return {
    last: -1,
    compare: (a, b) => a - b,
    lead: () => 0,
    next: () => null,
    letOthersSleep: () => {},
    wake: () => {},
    asleep: { least: Number.POSITIVE_INFINITY, occupies: Number.POSITIVE_INFINITY },
    *those(isWanted) {
      for (const input of pending) if (isWanted(input)) yield jobOf(draft.machine, input, signals);
    },
  };
}
