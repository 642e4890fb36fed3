// After the queue has been walked: where the last of those that were started keep out others that are worth more together, they change
// places. A plan is worth the score of what it starts times the nodes it gets. Whoever gives up its place gets a reservation at once, which
// the next cycles keep, so it happens to nobody twice; the first of the queue, and who was promised or awaited, never does. Only for queues
// that are short: in a long one there is always somebody small who fills what is left.

import type { AllocationId } from "@lattice/core";
import { startNow } from "./backfill.ts";
import type { CycleInput } from "./cycle-types.ts";
import { commit, type Draft, freeOfMatch, type Held, takeBack } from "./draft.ts";
import { isPossible, type Job } from "./job.ts";
import { EXCHANGE_LIMIT, EXCHANGE_QUEUE_LIMIT, EXCHANGE_TRIAL_LIMIT } from "./limits.ts";
import { compareSubmission, type Queue } from "./order.ts";
import { depthOf } from "./promises.ts";
import type { Ledger } from "./quota.ts";
import { hold, letGo, reserve } from "./reserve.ts";
import { areAlike, areMates } from "./take-over.ts";

export interface Started {
  readonly job: Job;
  readonly nodes: readonly number[];
  /** The reservation that it needs no longer. */
  readonly own?: Held;
}

export interface Exchange {
  readonly out: Started;
  readonly instead: readonly Started[];
}

interface Standing {
  readonly draft: Draft;
  readonly ledger: Ledger;
  readonly queue: Queue;
  /** In the order in which they were started. */
  readonly begun: readonly Started[];
  readonly awaited: ReadonlySet<AllocationId>;
  readonly scoreOf: (job: Job) => number;
}

/** Changes the draft; answers what was exchanged, in order. */
export function exchange(input: CycleInput, standing: Standing): Exchange[] {
  const { draft, queue, begun, awaited } = standing;
  if (!mayExchange(input, draft, begun)) return [];
  const promised = new Set((input.previous ?? []).map(({ allocation }) => allocation));
  const isBound = (id: AllocationId): boolean => promised.has(id) || awaited.has(id);
  const done: Exchange[] = [];
  const trials: Trials = { left: EXCHANGE_TRIAL_LIMIT, depth: depthOf(input) };
  const { movesLeft } = draft;
  // A trial is undone by putting back what it let go, so nothing else may have moved meanwhile.
  draft.movesLeft = 0;
  const bound = draft.held.filter(({ job }) => isBound(job.input.id));
  // Nor does anybody gain who stands behind one of them that asks for the same.
  const isBehind = (job: Job): boolean =>
    bound.some((held) => areMates(held.job, job) && compareSubmission(held.job.input, job.input) < 0);
  let left = [...queue.those(({ id }) => !draft.placed.has(id) && !isBound(id))].filter((job) => !isBehind(job));
  for (const out of begun.slice(1).reverse()) {
    if (done.length === EXCHANGE_LIMIT || trials.left <= 0) break;
    if (isBound(out.job.input.id) || couldStop(input, out.job) || hasMateBehind(standing, out.job)) continue;
    const instead = insteadOf(standing, out, left, trials);
    if (instead === null) continue;
    done.push({ out, instead });
    const gone = new Set(instead.map(({ job }) => job));
    left = left.filter((job) => !gone.has(job));
  }
  draft.movesLeft = movesLeft;
  return done;
}

/** A trial for one allocation ends at its turn; budgets, shared nodes and claims have rules of their own. */
function mayExchange(input: CycleInput, draft: Draft, begun: readonly Started[]): boolean {
  const { fifo, until, pending, rooms, sensitive } = input;
  if (fifo || until !== undefined || rooms !== undefined || sensitive === true || draft.budgets !== null) return false;
  return begun.length > 1 && pending.length <= EXCHANGE_QUEUE_LIMIT && depthOf(input) > 0;
}

/** One that asks for the same and came later has started too: it would be the one to give way. */
const hasMateBehind = ({ draft, begun }: Standing, job: Job): boolean =>
  begun.some(
    ({ job: other }) =>
      areMates(other, job) && draft.placed.has(other.input.id) && compareSubmission(other.input, job.input) > 0,
  );

/** Running work would be stopped for it next time, which need not be if it starts now. */
const couldStop = ({ victims }: CycleInput, { input: { preemptionClass } }: Job): boolean =>
  victims?.some((victim) => victim.preemptionClass < preemptionClass) === true;

interface Trials {
  left: number;
  /** So many reservations there may be. */
  readonly depth: number;
}

/** What starts in its place; null, and nothing has changed, where nothing better does. */
function insteadOf(standing: Standing, out: Started, left: readonly Job[], trials: Trials): Started[] | null {
  const { draft, ledger, scoreOf } = standing;
  const { preemptionClass, tenant } = out.job.input;
  const worthOf = ({ job, nodes }: Started): number => scoreOf(job) * nodes.length;
  const room = draft.freeCount + out.nodes.length;
  // Nobody makes room for a lower class, nor for one behind that asks for the same.
  const those = left.filter(
    (job) =>
      job.least <= room &&
      job.input.preemptionClass >= preemptionClass &&
      !areAlike(job, out.job) &&
      isPossible(draft.machine, job),
  );
  const atMost = those.reduce((sum, job) => sum + scoreOf(job) * Math.min(room, job.input.maxNodes), 0);
  if (atMost <= worthOf(out) * LEAST_GAIN) return null;
  undo(standing, out);
  const byValue = [...those].sort((a, b) => scoreOf(b) * b.least - scoreOf(a) * a.least);
  let most = worthOf(out) * LEAST_GAIN;
  let order: readonly Job[] | null = null;
  for (const first of [null, ...byValue]) {
    if (trials.left <= 0) break;
    // Who asks for the same and comes before it would have to be the first.
    if (first !== null && byValue.find((job) => areAlike(job, first)) !== first) continue;
    trials.left -= 1;
    const tried = first === null ? those : [first, ...byValue.filter((job) => job !== first)];
    const found = fill(standing, tried);
    const value = found.reduce((sum, one) => sum + worthOf(one), 0);
    for (const one of found.reverse()) undo(standing, one);
    if (value > most) [most, order] = [value, tried];
  }
  const instead = order === null ? [] : fill(standing, order);
  const held = instead.length === 0 || draft.held.length >= trials.depth ? null : reserve(draft, out.job);
  // One behind that asks for the same may not come to stand before it.
  const isOvertaken = draft.held.some(
    (other) => other.startsAt < (held?.startsAt ?? 0) && areMates(other.job, out.job),
  );
  if (held !== null && !isOvertaken) {
    hold(draft, held);
    return instead;
  }
  for (const one of instead.reverse()) undo(standing, one);
  commit(draft, out.job, out.nodes);
  ledger.charge(tenant, out.nodes.length);
  return null;
}

/** Less is not worth anybody's place. */
const LEAST_GAIN = 1.01;

/** Starts who can be started, in that order, and nobody before one that asks for the same and cannot. */
function fill({ draft, ledger }: Standing, jobs: readonly Job[]): Started[] {
  const found: Started[] = [];
  const waiting: Job[] = [];
  for (const job of jobs) {
    const headroom = ledger.headroom(job.input.tenant, job.least);
    if (headroom === 0 || freeOfMatch(draft, job) < job.least || waiting.some((one) => areMates(one, job))) continue;
    const own = draft.held.find((held) => held.job.input.id === job.input.id);
    if (own !== undefined) letGo(draft, own);
    const nodes = startNow(draft, job, Math.min(job.input.maxNodes, headroom));
    if (nodes === null) {
      if (own !== undefined) hold(draft, own);
      waiting.push(job);
      continue;
    }
    commit(draft, job, nodes);
    ledger.charge(job.input.tenant, nodes.length);
    found.push(own === undefined ? { job, nodes } : { job, nodes, own });
  }
  return found;
}

function undo({ draft, ledger }: Standing, { job, nodes, own }: Started): void {
  takeBack(draft, job, nodes);
  ledger.giveBack(job.input.tenant, nodes.length);
  if (own !== undefined) hold(draft, own);
}
