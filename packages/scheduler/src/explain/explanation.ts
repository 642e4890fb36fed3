// Why one allocation waits: every cause, how the nodes stand, where it stands in the queue, how its tenant
// stands. All from one kept cycle, so that the figures agree with each other and with what the cycle did.

import type { AllocationId, Instant, LogIndex, VClusterId } from "@lattice/core";
import type { CycleResult, PendingReason } from "../cycle-types.ts";
import { type Explainer, explainer } from "../explain.ts";
import type { Job } from "../job.ts";
import { type NodeFigures, nodeFigures } from "./node-figures.ts";
import { type QueueStanding, queueStanding } from "./standing.ts";
import { findIn, type Study } from "./study.ts";
import { tenantText } from "./tenant-text.ts";
import { nodesText } from "./words.ts";

export interface Explanation {
  readonly allocation: AllocationId;
  readonly vcluster: VClusterId;
  readonly at: Instant;
  readonly basis: LogIndex;
  /** It is in the plan, and starts when the plan is committed. */
  readonly startsNow: boolean;
  readonly causes: readonly PendingReason[];
  readonly nodes: NodeFigures;
  readonly queue: QueueStanding;
  readonly tenant: readonly string[];
}

/** Null when the cycle did not know the allocation. */
export function explain(study: Study, id: AllocationId): Explanation | null {
  const found = findIn(study, id);
  if (found === null) return null;
  const { decided, input } = study;
  const startsNow = decided.draft.placed.has(id);
  const nodes = nodeFigures(study, found.job);
  const queue = queueStanding(study, found);
  return {
    allocation: id,
    vcluster: input.vcluster,
    at: input.now,
    basis: input.basis,
    startsNow,
    causes: startsNow ? [] : causes(study, found.job, { nodes, queue }),
    nodes,
    queue,
    tenant: tenantText(study, found.job),
  };
}

/** What the cycle gives as reasons, and what else stands in the way although it is not the first thing to change. */
function causes(
  { decided, result }: Study,
  job: Job,
  { nodes, queue }: { readonly nodes: NodeFigures; readonly queue: QueueStanding },
): readonly PendingReason[] {
  const told = explainerOf(decided)
    .reasons(job)
    .map((reason) => (reason.code === "reserved" ? reserved(nodes) : reason));
  const codes = new Set(told.map(({ code }) => code));
  const impossible = codes.has("no_matching_nodes");
  const more: PendingReason[] = [];
  if (nodes.held.length > 0 && !codes.has("reserved") && !impossible) more.push(reserved(nodes));
  const ahead = queue.position - 1;
  if (ahead > 0 && !codes.has("priority") && !codes.has("not_considered") && !impossible) {
    const text =
      ahead === 1 ? "1 allocation is ahead of it in the queue." : `${ahead} allocations are ahead of it in the queue.`;
    more.push({ code: "priority", text });
  }
  return [...preempting(result, job), ...told, ...more];
}

/** Others are asked to stop for it. */
function preempting({ preemptions }: CycleResult, { input: { id } }: Job): PendingReason[] {
  const found = preemptions.find(({ allocation }) => allocation === id);
  if (found === undefined) return [];
  const { victims, nodes } = found;
  const who = victims.length === 1 ? "1 allocation is" : `${victims.length} allocations are`;
  return [{ code: "preempting", text: `${who} stopped to make room for it on ${nodesText(nodes.length)}.` }];
}

/** Made once for all who ask about one cycle; trials leave its draft as it was. */
function explainerOf(decided: Study["decided"]): Explainer {
  const known = explainers.get(decided);
  if (known !== undefined) return known;
  const made = explainer(decided);
  explainers.set(decided, made);
  return made;
}

const explainers = new WeakMap<Study["decided"], Explainer>();

/** Without ids: who may see whom is not known here. */
function reserved({ needed, free, held }: NodeFigures): PendingReason {
  const nodes = Math.min(
    free,
    held.reduce((sum, one) => sum + one.nodes, 0),
  );
  const others = held.length === 1 ? "an allocation" : `${held.length} allocations`;
  const text = `Needs ${nodesText(needed)}; ${free} match and are free, ${nodes} of them held for ${others} that would be delayed.`;
  return { code: "reserved", text };
}
