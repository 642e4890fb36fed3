// One scheduling cycle for one vCluster, as a list of steps over one snapshot: order the queue, keep what
// was promised, find candidates, place, reserve for who cannot start, backfill around the
// reservations, explain and estimate the rest. It decides and commits nothing: `apply` rechecks every
// placement of the plan.

import { type AllocationId, compareAllocationIds, type Instant, type NodeId, type Placement } from "@lattice/core";
import { startNow } from "./backfill.ts";
import type { CycleInput, CycleResult, PendingReason, Reservation } from "./cycle-types.ts";
import type { Decided } from "./decided.ts";
import { commit, commitJoin, type Draft, draftOf, type Held } from "./draft.ts";
import { exchange, type Started } from "./exchange.ts";
import { type Study, studyOf } from "./explain/study.ts";
import { explainer } from "./explain.ts";
import { isPossible, type Job, jobOf } from "./job.ts";
import { FULL_MACHINE_QUEUE_LIMIT, MOVE_LIMIT, TRY_LIMIT } from "./limits.ts";
import { machineOf } from "./machine/machine.ts";
import { orderQueue, type Queue } from "./order.ts";
import { mayJoin, packingOf } from "./place/join.ts";
import { settleAwaiting } from "./preempt/awaiting.ts";
import { makeRoom } from "./preempt/preempt.ts";
import { depthOf, holdForeign, keepPromises, nodeIdsOf } from "./promises.ts";
import { type Ledger, ledgerOf } from "./quota.ts";
import { report } from "./report.ts";
import { hold, letGo, reserve } from "./reserve.ts";
import { placedScores, type ScoreBasis, scoreBasis, totalMilli } from "./score/score.ts";
import { createSpace, type Space, spaceLeft } from "./space.ts";
import { spareOf } from "./spare.ts";

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

const byStart = (a: Held, b: Held): number =>
  a.startsAt - b.startsAt || compareAllocationIds(a.job.input.id, b.job.input.id);

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
  keepPromises(draft, input, { queue, ledger });
  const { considered, otherwise } = walk(input, { draft, ledger, queue, start, join, awaited });
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

type Ground = Pick<Walk, "draft" | "ledger"> & { readonly basis: ScoreBasis };

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

interface Walk {
  readonly draft: Draft;
  readonly ledger: Ledger;
  readonly queue: Queue;
  readonly start: (job: Job, nodes: readonly number[], backfilled: boolean) => void;
  /** True where it shares a node with others from now on. */
  readonly join: (job: Job) => boolean;
  /** They have been settled before. */
  readonly awaited: ReadonlySet<AllocationId>;
}

/** Down the queue until nothing more can start or be reserved. */
function walk(input: CycleInput, { draft, ledger, queue, start, join, awaited }: Walk) {
  const depth = depthOf(input);
  const promised = new Map<AllocationId, Held>(draft.held.map((held) => [held.job.input.id, held]));
  const owners = new Set<unknown>(draft.held.map((held) => held.job.input));
  let considered = 0;
  let tried = 0;
  let someSleep = false;
  let last: AllocationId | null = null;
  /** After a promise has changed hands or place. */
  const wake = (): void => {
    const { least, occupies } = queue.asleep;
    if (draft.held.length >= depth && least > spareOf(draft).until(draft.now + occupies)) return;
    queue.wake();
    someSleep = false;
  };
  while (tried < TRY_LIMIT && !(draft.freeCount === 0 && draft.held.length >= depth)) {
    if (last !== null && last === input.until) break;
    // With all reservations given out, those that the spare nodes do not suffice for could neither start nor reserve.
    if (!someSleep && depth > 0 && draft.held.length >= depth) {
      queue.letOthersSleep((one) => couldStart(draft, one) || owners.has(one.input));
      someSleep = true;
    }
    const job = queue.next();
    if (job === null) break;
    const { input: pending } = job;
    last = pending.id;
    considered += 1;
    if (draft.placed.has(pending.id) || awaited.has(pending.id)) continue;
    if (pending.shares === true && join(job)) {
      promised.delete(pending.id);
      tried += 1;
      continue;
    }
    const headroom = ledger.headroom(pending.tenant, job.least);
    if (headroom > 0 && isSettled(draft, job, promised.get(pending.id))) {
      promised.delete(pending.id);
      tried += 1;
      continue;
    }
    const promise = takePromise(draft, promised, pending.id);
    if (headroom === 0 || !isPossible(draft.machine, job)) {
      if (promise !== null) wake();
      continue;
    }
    tried += 1;
    const nodes = startNow(draft, job, Math.min(pending.maxNodes, headroom));
    if (nodes !== null) {
      start(job, nodes, draft.held.length > promised.size);
      if (promise !== null) wake();
      continue;
    }
    if (draft.held.length >= depth && depth > 0) continue;
    // A promise is kept as it was, nodes and all, unless it can be bettered.
    const held = reserve(draft, job, promise?.startsAt) ?? promise;
    // Depth 0 means no backfill: whoever waits for nodes that will come back is not overtaken.
    if (held !== null && depth === 0) break;
    if (held !== null) hold(draft, held);
    if (promise !== null && held !== promise) wake();
  }
  const otherwise = tried < TRY_LIMIT ? ("priority" as const) : ("not_considered" as const);
  return { considered, otherwise };
}

/** It has a promise, cannot start now, and cannot begin before its promise: by number alone. */
function isSettled(draft: Draft, job: Job, promise: Held | undefined): boolean {
  if (promise === undefined || !draft.held.includes(promise)) return false;
  const spare = spareOf(draft);
  return spare.until(draft.now + job.occupies, promise) < job.least && !spare.couldBetter(promise);
}

/** Its own promise does not stand in its way. Reservations may have moved, so it is looked up by owner. */
function takePromise(draft: Draft, promised: Map<AllocationId, Held>, id: AllocationId): Held | null {
  if (!promised.delete(id)) return null;
  const held = draft.held.find((one) => one.job.input.id === id) ?? null;
  if (held !== null) letGo(draft, held);
  return held;
}

/** By number alone. */
const couldStart = (draft: Draft, job: Job): boolean =>
  job.least <= draft.freeCount &&
  (draft.held.length === 0 || job.least <= spareOf(draft).until(draft.now + job.occupies));

/** Nobody is drawn from it; it is told in the order given. */
function asGiven(draft: Draft, { pending, signals }: CycleInput): Queue {
  return {
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
