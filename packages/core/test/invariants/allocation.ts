// Invariants of one allocation: its owners exist, its attempts and requeues are in step, and
// while it is placed its phase follows from the progress of its nodes.

import type { Allocation } from "../../src/model/allocation/allocation.ts";
import { attemptOn } from "../../src/model/allocation/node-attempts.ts";
import { isFinal, isPlaced, type NodeProgress, type PlacedPhase } from "../../src/model/allocation/phase.ts";
import { MAX_NODES } from "../../src/model/spec/limits.ts";
import { isService } from "../../src/model/spec/spec.ts";
import type { View } from "../../src/state/view.ts";
import { countedRequeues } from "../../src/transitions/attempt/backoff.ts";

export function brokenAllocation(view: View, record: Allocation): string[] {
  const { id, spec, phase, attempt, requeues } = record;
  /** Every attempt but the current one ended in a requeue, was stopped for others, or did not begin on a node. */
  const before = timesBefore(record);
  const broken: string[] = [];
  // Owners of finished work may have been removed since.
  const lives = !isFinal(phase);
  if (lives && view.tenant(spec.tenant) === undefined) broken.push(`allocation ${id} has no tenant`);
  if (lives && view.vcluster(spec.vcluster) === undefined) broken.push(`allocation ${id} has no vCluster`);
  if (countedRequeues(record) > spec.lifecycle.maxRequeue)
    broken.push(`allocation ${id} was requeued ${requeues} times`);
  if (record.pendingSinceIndex > view.index) broken.push(`allocation ${id} is pending since the future`);
  if (record.submittedAt > view.at) broken.push(`allocation ${id} was submitted in the future`);
  if (phase.kind === "pending" && attempt !== before) broken.push(`allocation ${id} waits with attempt ${attempt}`);
  if (record.hold !== undefined && phase.kind !== "pending") broken.push(`${id} is ${phase.kind} and held`);
  if (phase.kind === "suspended") broken.push(...brokenSuspension(record, before));
  if (isFinal(phase) && attempt - before !== 0 && attempt - before !== 1) {
    broken.push(`allocation ${id} ended with attempt ${attempt} after ${requeues} requeues`);
  }
  return isPlaced(phase) ? [...broken, ...brokenPlacement(view, record, phase)] : broken;
}

/** No allocation is suspended without a checkpoint to restore. */
function brokenSuspension({ id, attempt, phase, checkpoints }: Allocation, before: number): string[] {
  const broken: string[] = [];
  if (attempt !== before) broken.push(`allocation ${id} is suspended with attempt ${attempt}`);
  const last = checkpoints?.last;
  // An attempt that resumed and reached its walltime before its own first checkpoint keeps the one it resumed from.
  const isUsable =
    phase.kind === "suspended" && phase.cause === "walltime" ? last !== undefined : last?.attempt === attempt;
  if (!isUsable) broken.push(`allocation ${id} is suspended without a checkpoint`);
  return broken;
}

/** An added node stands for an attempt, and an excluded node for one more try that is not a requeue. */
const timesBefore = (record: Allocation): number => {
  const {
    requeues,
    preemptions = 0,
    suspensions = 0,
    recalls = 0,
    excludedNodes = [],
    added = 0,
    updates = 0,
  } = record;
  return requeues + preemptions + suspensions + recalls + excludedNodes.length + added + updates;
};

function brokenPlacement(view: View, record: Allocation, phase: PlacedPhase): string[] {
  const { id, attempt } = record;
  const [least, most] = sizesOf(record, phase);
  const { nodes, progress } = phase;
  const broken: string[] = [];
  if (attempt !== timesBefore(record) + 1) broken.push(`allocation ${id} is placed as attempt ${attempt}`);
  if (nodes.length < least || nodes.length > most) broken.push(`allocation ${id} has ${nodes.length} nodes`);
  if (new Set(nodes).size !== nodes.length) broken.push(`allocation ${id} has a node twice`);
  if (progress.length !== nodes.length) broken.push(`allocation ${id} has progress of ${progress.length} nodes`);
  for (const node of nodes) {
    const claims = view.node(node)?.claims ?? [];
    const held = claims.some(
      (claim) => claim.allocation === id && claim.attempt === attemptOn(record, node) && !claim.releasing,
    );
    if (!held) broken.push(`allocation ${id} does not hold its node ${node}`);
  }
  if (phase.kind === "checkpointing") {
    const { n, answers } = phase.request;
    if (n !== record.checkpoints?.asked) broken.push(`allocation ${id} takes checkpoint ${n}, which was not asked for`);
    if (answers.length !== nodes.length) broken.push(`allocation ${id} has answers of ${answers.length} nodes`);
    if (answers.every((bytes) => bytes !== null)) broken.push(`allocation ${id} is checkpointing but has all answers`);
  }
  return [...broken, ...brokenAggregate(id, phase, record.added > 0)];
}

/** A service that runs may have lost nodes, or have one more while another is replaced. */
function sizesOf({ spec, added }: Allocation, { kind }: PlacedPhase): readonly [number, number] {
  const { minNodes, maxNodes } = spec.resources;
  // Its bounds may be changed at any time; it comes back between them node by node.
  if (spec.lifecycle.scale !== undefined) return [1, MAX_NODES];
  if (!isService(spec.lifecycle) || kind === "staging") return [minNodes, maxNodes];
  return [1, maxNodes + (added === 0 ? 0 : 1)];
}

/** Any failed: failed; all completed: completed; all at least running: running. */
function brokenAggregate(id: string, { kind, progress }: PlacedPhase, grows: boolean): string[] {
  const started = (node: NodeProgress): boolean => node.state === "running" || node.state === "completed";
  const broken: string[] = [];
  if (progress.some((node) => node.state === "failed")) broken.push(`allocation ${id} is ${kind} with a failed node`);
  if (progress.every((node) => node.state === "completed")) broken.push(`allocation ${id} is ${kind} but completed`);
  const all = progress.every(started);
  if (kind === "staging" && all) broken.push(`allocation ${id} is staging but runs on all nodes`);
  // A node that was added begins while the others run.
  if (kind !== "staging" && !all && !grows) broken.push(`allocation ${id} is ${kind} but does not run on all nodes`);
  return broken;
}
