// A running service gets one more node, or gives one up. Everything is checked again against the state as it is:
// the node must be free and fit, the tenant's quota and the service's own bounds must hold, and whoever
// decided must have known the size. Its least number of nodes is never borrowed. A node that is given up leaves the
// registry at once, and its processes get their time to end.

import type { Allocation } from "../allocation/allocation.ts";
import { attemptAt } from "../allocation/attempt-on.ts";
import { withNote } from "../allocation/keep-past.ts";
import { forgetAttempt, hasEnded } from "../allocation/let-go.ts";
import { changed } from "../allocation/move.ts";
import type { NodeProgress, RunningPhase } from "../allocation/phase.ts";
import { placementConstraints } from "../allocation/placement-constraints.ts";
import { isService } from "../allocation/spec.ts";
import type { ScaleCommand } from "../command.ts";
import type { Attempt, NodeId } from "../ids.ts";
import { present } from "../invariant.ts";
import { chargeAttempt } from "../ledger/charge.ts";
import { markReleasing, releaseClaim, takeClaims } from "../node/claims.ts";
import type { Node } from "../node/node.ts";
import { describeShortfall, shortfalls } from "../node/shortfalls.ts";
import { MAX_NOTICE_LENGTH, noticeKey } from "../notice/notice.ts";
import { notify } from "../notice/raise.ts";
import type { Outcome } from "../outcome.ts";
import { poolLeft } from "../settings/pool.ts";
import { borrowBar, lendingRoom } from "../sharing/borrow.ts";
import { isFree } from "../state/indexes.ts";
import { accepted, quote, refuse, type Step } from "../step.ts";

/** Changes of direction in a row beyond which the user is told that the target does not suit the service. */
export const MOST_TURNS = 5;

const ORDERED: NodeProgress = { state: "ordered", exitCode: null, message: "" };

export function scaleAllocation(step: Step, command: ScaleCommand): Outcome {
  const record = step.state.allocation(command.allocation);
  if (record === undefined) return refuse("unknown_allocation", `there is no allocation ${quote(command.allocation)}`);
  const { id, phase, spec } = record;
  if (!isService(spec.lifecycle)) return refuse("illegal_transition", `allocation ${id} is no service`);
  if (phase.kind !== "running") return refuse("illegal_transition", `allocation ${id} is ${phase.kind}`);
  if (record.attempt !== command.attempt || phase.nodes.length !== command.size) {
    return refuse("stale_plan", `allocation ${id} has ${phase.nodes.length} nodes at attempt ${record.attempt}`);
  }
  return command.change === "add" ? grow(step, record, phase, command) : shrink(step, record, phase, command);
}

function grow(step: Step, record: Allocation, phase: RunningPhase, command: ScaleCommand): Outcome {
  const node = step.state.node(command.node);
  if (node === undefined) return refuse("unknown_node", `there is no node ${quote(command.node)}`);
  const most = mostNodes(record) + (command.reason === "renewal" ? 1 : 0);
  if (phase.nodes.length >= most)
    return refuse("illegal_transition", `allocation ${record.id} has ${most} nodes already`);
  if (!isFree(node)) return refuse("node_unavailable", `node "${node.id}" is not free`);
  const lacking = shortfalls(placementConstraints(record), node.id, node.capabilities)[0];
  if (lacking !== undefined) return refuse("constraint_unmet", `node "${node.id}" ${describeShortfall(lacking)}`);
  const foreign = whyNotBorrowed(step, record, phase, node);
  if (foreign !== null) return refuse("node_unavailable", foreign);
  const { tenant } = record.spec;
  const { quota } = present(step.state.tenant(tenant), `tenant ${tenant} of allocation ${record.id} is gone`);
  const { nodes: inUse } = step.state.usage(tenant);
  if (quota.maxNodes !== null && inUse + 1 > quota.maxNodes) {
    const figures = { limit: quota.maxNodes, current: inUse, requested: 1 };
    return refuse("quota_exceeded", `tenant "${tenant}" would exceed its max_nodes quota`, figures);
  }
  const pool = poolLeft(step.state, record.spec.vcluster);
  if (pool !== null && pool.current + 1 > pool.limit) {
    return refuse("quota_exceeded", "sensitive work would exceed sensitive_pool_size", { ...pool, requested: 1 });
  }

  const attempt = (record.attempt + 1) as Attempt;
  const { vcluster } = record.spec;
  takeClaims(step, [node.id], [node], {
    allocation: record.id,
    attempt,
    tenant,
    vcluster,
    exclusive: true,
    releasing: false,
    since: step.at,
  });
  step.effects.push({ kind: "run", node: node.id, allocation: record.id, attempt });
  const attempts = [...phase.nodes.map((_, i) => attemptAt(record, phase, i)), attempt];
  const grown: RunningPhase = {
    ...phase,
    nodes: [...phase.nodes, node.id],
    progress: [...phase.progress, ORDERED],
    attempts,
  };
  const counted: Allocation = { ...record, attempt, added: (record.added ?? 0) + 1 };
  resized(step, counted, grown, { ...command, node: node.id }, record);
  return accepted(record.id);
}

function shrink(step: Step, record: Allocation, phase: RunningPhase, command: ScaleCommand): Outcome {
  const at = phase.nodes.indexOf(command.node);
  if (at < 0) return refuse("stale_plan", `allocation ${record.id} does not run on ${quote(command.node)}`);
  const least = command.reason === "renewal" ? 1 : record.spec.resources.minNodes;
  if (phase.nodes.length <= least)
    return refuse("illegal_transition", `allocation ${record.id} needs its ${least} nodes`);
  const goesOn = phase.progress.some(({ state }, i) => i !== at && state === "running");
  if (!goesOn) return refuse("illegal_transition", `allocation ${record.id} runs on no other node`);
  giveUp(step, record, phase, command);
  return accepted(record.id);
}

/** One node of several goes: given up, lost, or asked back by those who lent it. */
export function giveUp(
  step: Step,
  record: Allocation,
  phase: RunningPhase,
  {
    node,
    reason,
    detail,
    gone = false,
  }: Pick<ScaleCommand, "node" | "reason" | "detail"> & { readonly gone?: boolean },
): void {
  const at = phase.nodes.indexOf(node);
  const ref = { allocation: record.id, attempt: attemptAt(record, phase, at) };
  if (gone) releaseClaim(step, node, ref);
  else if (hasEnded(phase.progress[at])) forgetAttempt(step, node, ref);
  else markReleasing(step, node, ref, { reason: "scaled down" });
  const attempts = phase.nodes.map((_, i) => attemptAt(record, phase, i));
  const without = <T>(items: readonly T[]): readonly T[] => items.filter((_, i) => i !== at);
  const left: RunningPhase = {
    ...phase,
    nodes: without(phase.nodes),
    progress: without(phase.progress),
    attempts: without(attempts),
  };
  const counted: Allocation = { ...record, added: record.added ?? 0 };
  resized(step, counted, left, { change: "remove", node, reason, detail }, record);
}

/** What was used so far is charged; from here on the new nodes count. */
function resized(
  step: Step,
  record: Allocation,
  phase: RunningPhase,
  { change, node, reason, detail }: Pick<ScaleCommand, "change" | "node" | "reason" | "detail">,
  before: Allocation,
): void {
  chargeAttempt(step.state, before, step.at);
  const by = reason === "metric";
  const direction = change === "add" ? "up" : "down";
  const last = record.scaling;
  const turns = last === undefined || last.direction === direction ? 0 : last.turns + 1;
  const kind = change === "add" ? "scaled_up" : "scaled_down";
  const size = phase.nodes.length === 1 ? "1 node" : `${phase.nodes.length} nodes`;
  const text = `${change === "add" ? `Node ${node} was added` : `Node ${node} was given up`}; now ${size} (${detail}).`;
  const type = reason === "node_failure" ? "failure" : reason === "reclaim" ? "preemption" : "scaling";
  const moved: Allocation = {
    ...record,
    phase: { ...phase, countedFrom: step.at },
    ...(by ? { scaling: { at: step.at, direction, turns } as const } : {}),
  };
  const noted = withNote(moved, { type, kind, text, nodes: [node] }, step);
  step.state.putAllocation(noted);
  step.events.push({ ...changed(noted, "running"), node, reason: kind, message: detail });
  if (by && turns > MOST_TURNS) tellOscillation(step, noted, turns);
}

function tellOscillation(step: Step, { id, spec, user }: Allocation, turns: number): void {
  const advice = "its target or its cooldown does not suit it";
  notify(step, {
    key: noticeKey("scaling_oscillates", id),
    kind: "scaling_oscillates",
    text: `service ${id} has grown and shrunk ${turns} times in turn: ${advice}`.slice(0, MAX_NOTICE_LENGTH),
    tenant: spec.tenant,
    user,
    allocation: id,
  });
}

export const mostNodes = ({ spec }: Pick<Allocation, "spec">): number =>
  spec.lifecycle.scale?.maxNodes ?? spec.resources.maxNodes;

const isBorrowed = (record: Allocation, node: Node | undefined): boolean =>
  node !== undefined && node.homeVCluster !== null && node.homeVCluster !== record.spec.vcluster;

/** Null: it may be taken, being nobody's, our own, or lent. */
function whyNotBorrowed(step: Step, record: Allocation, phase: RunningPhase, node: Node): string | null {
  if (!isBorrowed(record, node) || node.homeVCluster === null) return null;
  const home = node.homeVCluster;
  const own = phase.nodes.filter((id: NodeId) => !isBorrowed(record, step.state.node(id))).length;
  const { minNodes } = record.spec.resources;
  if (own < minNodes) return `the least ${minNodes} nodes of a service are not borrowed`;
  const bar = borrowBar(step.state, record.spec, home);
  if (bar !== null) return `node "${node.id}" serves vCluster "${home}" only: ${bar}`;
  return lendingRoom(step.state, home) > 0 ? null : `vCluster "${home}" lends no more nodes`;
}
