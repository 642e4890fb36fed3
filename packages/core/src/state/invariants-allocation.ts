// What must hold of one allocation: its owners exist, its attempts and requeues are in step, and
// while it is placed its phase follows from the progress of its nodes.

import type { Allocation } from "../allocation/allocation.ts";
import { isFinal, isPlaced, type NodeProgress, type PlacedPhase } from "../allocation/phase.ts";
import type { View } from "./view.ts";

export function brokenAllocation(view: View, record: Allocation): string[] {
  const { id, spec, phase, attempt, requeues } = record;
  /** Every attempt but the current one ended in a requeue, was stopped for others, or did not begin on a node. */
  const before = timesBefore(record);
  const broken: string[] = [];
  // Those of finished work may have been removed since.
  const lives = !isFinal(phase);
  if (lives && view.tenant(spec.tenant) === undefined) broken.push(`allocation ${id} has no tenant`);
  if (lives && view.vcluster(spec.vcluster) === undefined) broken.push(`allocation ${id} has no vCluster`);
  if (requeues > spec.lifecycle.maxRequeue) broken.push(`allocation ${id} was requeued ${requeues} times`);
  if (record.pendingSinceIndex > view.index) broken.push(`allocation ${id} is pending since the future`);
  if (record.submittedAt > view.at) broken.push(`allocation ${id} was submitted in the future`);
  if (phase.kind === "pending" && attempt !== before) broken.push(`allocation ${id} waits with attempt ${attempt}`);
  if (isFinal(phase) && attempt - before !== 0 && attempt - before !== 1) {
    broken.push(`allocation ${id} ended with attempt ${attempt} after ${requeues} requeues`);
  }
  return isPlaced(phase) ? [...broken, ...brokenPlacement(view, record, phase)] : broken;
}

/** A node set aside stands for one more try that is not a requeue. */
const timesBefore = ({ requeues, preemptions = 0, setAside = [] }: Allocation): number =>
  requeues + preemptions + setAside.length;

function brokenPlacement(view: View, record: Allocation, phase: PlacedPhase): string[] {
  const { id, attempt } = record;
  const { minNodes, maxNodes } = record.spec.resources;
  const { nodes, progress } = phase;
  const broken: string[] = [];
  if (attempt !== timesBefore(record) + 1) broken.push(`allocation ${id} is placed as attempt ${attempt}`);
  if (nodes.length < minNodes || nodes.length > maxNodes) broken.push(`allocation ${id} has ${nodes.length} nodes`);
  if (new Set(nodes).size !== nodes.length) broken.push(`allocation ${id} has a node twice`);
  if (progress.length !== nodes.length) broken.push(`allocation ${id} has progress of ${progress.length} nodes`);
  for (const node of nodes) {
    const claims = view.node(node)?.claims ?? [];
    const held = claims.some((claim) => claim.allocation === id && claim.attempt === attempt && !claim.releasing);
    if (!held) broken.push(`allocation ${id} does not hold its node ${node}`);
  }
  return [...broken, ...brokenAggregate(id, phase)];
}

/** Any failed: failed; all completed: completed; all at least running: running. */
function brokenAggregate(id: string, { kind, progress }: PlacedPhase): string[] {
  const started = (node: NodeProgress): boolean => node.state === "running" || node.state === "completed";
  const broken: string[] = [];
  if (progress.some((node) => node.state === "failed")) broken.push(`allocation ${id} is ${kind} with a failed node`);
  if (progress.every((node) => node.state === "completed")) broken.push(`allocation ${id} is ${kind} but completed`);
  const all = progress.every(started);
  if (kind === "staging" && all) broken.push(`allocation ${id} is staging but runs on all nodes`);
  if (kind !== "staging" && !all) broken.push(`allocation ${id} is ${kind} but does not run on all nodes`);
  return broken;
}
