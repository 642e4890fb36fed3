// Why one allocation waits: every cause, the state of the nodes, its position in the queue, and the state of its
// tenant. All from one recorded cycle, so that the figures agree with each other and with the plan.

import type { AllocationId, Instant, LogIndex, NodeId, Scores, TenantId, VClusterId } from "@lattice/core";
import type { Job } from "../fit/job.ts";
import type { CycleResult, PendingInput, PendingReason } from "../input/cycle-input.ts";
import { scores } from "../score/score.ts";
import { type CycleRecord, type FoundJob, findJob, toJobOf } from "./cycle-record.ts";
import { type NodeFigures, nodeFigures } from "./node-figures.ts";
import { createExplainer, type Explainer } from "./reasons.ts";
import { tenantText } from "./tenant-text.ts";
import { nodesText } from "./text.ts";

export interface Explanation {
  readonly allocation: AllocationId;
  readonly vcluster: VClusterId;
  readonly at: Instant;
  readonly basis: LogIndex;
  /** It is in the plan, and starts when the plan is committed. */
  readonly startsNow: boolean;
  readonly causes: readonly PendingReason[];
  readonly nodes: NodeFigures;
  readonly queue: QueuePosition;
  readonly tenant: readonly string[];
}

/** Returns `null` when the cycle did not know the allocation. */
export function explain(record: CycleRecord, id: AllocationId): Explanation | null {
  const found = findJob(record, id);
  if (found === null) return null;
  const { decision, input } = record;
  const startsNow = decision.draft.placed.has(id);
  const nodes = nodeFigures(record, found.job);
  const queue = queuePosition(record, found);
  return {
    allocation: id,
    vcluster: input.vcluster,
    at: input.now,
    basis: input.basis,
    startsNow,
    causes: startsNow ? [] : causes(record, found.job, { nodes, queue }),
    nodes,
    queue,
    tenant: tenantText(record, found.job),
  };
}

/** The reasons of the cycle, and further obstacles behind the first one. */
function causes(
  { decision, result }: CycleRecord,
  job: Job,
  { nodes, queue }: { readonly nodes: NodeFigures; readonly queue: QueuePosition },
): readonly PendingReason[] {
  const accepted = explainerOf(decision)
    .reasons(job)
    .map((reason) => (reason.code === "reserved" ? reserved(nodes) : reason));
  const codes = new Set(accepted.map(({ code }) => code));
  const impossible = codes.has("no_matching_nodes");
  const more: PendingReason[] = [];
  if (nodes.reserved.length > 0 && !codes.has("reserved") && !impossible) more.push(reserved(nodes));
  const ahead = queue.position - 1;
  if (ahead > 0 && !codes.has("priority") && !codes.has("not_considered") && !impossible) {
    const text =
      ahead === 1 ? "1 allocation is ahead of it in the queue." : `${ahead} allocations are ahead of it in the queue.`;
    more.push({ code: "priority", text });
  }
  return [...preempting(result, job), ...accepted, ...more];
}

/** Victims are being stopped for it. */
function preempting({ preemptions }: CycleResult, { input: { id } }: Job): PendingReason[] {
  const found = preemptions.find(({ allocation }) => allocation === id);
  if (found === undefined) return [];
  const { victims, nodes } = found;
  const who = victims.length === 1 ? "1 allocation is" : `${victims.length} allocations are`;
  return [{ code: "preempting", text: `${who} stopped so that it can start on ${nodesText(nodes.length)}.` }];
}

/** Created once per cycle; trials leave its draft unchanged. */
function explainerOf(decision: CycleRecord["decision"]): Explainer {
  const known = explainers.get(decision);
  if (known !== undefined) return known;
  const made = createExplainer(decision);
  explainers.set(decision, made);
  return made;
}

const explainers = new WeakMap<CycleRecord["decision"], Explainer>();

/** Without ids: this code does not know which allocations the caller may see. */
function reserved({ needed, free, reserved: reservation }: NodeFigures): PendingReason {
  const nodes = Math.min(
    free,
    reservation.reduce((sum, one) => sum + one.nodes, 0),
  );
  const others = reservation.length === 1 ? "an allocation" : `${reservation.length} allocations`;
  const text = `Needs ${nodesText(needed)}; ${free} match and are free, ${nodes} of them reserved for ${others} that would be delayed.`;
  return { code: "reserved", text };
}

interface QueuePosition {
  /** Starts at 1. */
  readonly position: number;
  readonly length: number;
  readonly scores: Scores;
  readonly ahead: readonly AllocationAhead[];
  readonly reservation: { readonly startsAt: Instant; readonly nodes: readonly NodeId[] } | null;
}

interface AllocationAhead {
  readonly position: number;
  readonly allocation: AllocationId;
  readonly tenant: TenantId;
  readonly nodes: number;
  readonly scores: Scores;
}

/** Allocations ahead that are listed with their scores. */
const AHEAD_LIMIT = 5;

function queuePosition(record: CycleRecord, { at, job }: FoundJob): QueuePosition {
  const { input, decision, result } = record;
  const { placed } = decision.draft;
  const { compare } = decision.queue;
  const first: number[] = [];
  let ahead = 0;
  let length = 0;
  for (let other = 0; other < input.pending.length; other += 1) {
    if (other !== at && placed.has((input.pending[other] as PendingInput).id)) continue;
    length += 1;
    if (other === at || compare(other, at) > 0) continue;
    ahead += 1;
    insert(first, other, compare);
  }
  const reservation = result.reservations.find(({ allocation }) => allocation === job.input.id);
  return {
    position: ahead + 1,
    length,
    scores: scores(decision.basis, job),
    ahead: first.map((place, n) => {
      const pending = input.pending[place] as PendingInput;
      const { id: allocation, tenant, minNodes: nodes } = pending;
      return {
        position: n + 1,
        allocation,
        tenant,
        nodes,
        scores: scores(decision.basis, toJobOf(decision, pending, input)),
      };
    }),
    reservation: reservation === undefined ? null : { startsAt: reservation.startsAt, nodes: reservation.nodes },
  };
}

/** Keeps the first few in order. */
function insert(first: number[], place: number, compare: (a: number, b: number) => number): void {
  if (first.length === AHEAD_LIMIT && compare(place, first[AHEAD_LIMIT - 1] as number) > 0) return;
  let at = first.length;
  while (at > 0 && compare(place, first[at - 1] as number) < 0) at -= 1;
  first.splice(at, 0, place);
  if (first.length > AHEAD_LIMIT) first.pop();
}
