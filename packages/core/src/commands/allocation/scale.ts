// allocation.scale: a running service gets one more node, or gives one up. The handler checks the decision against the
// current state: the node is free and fits, the quota and the bounds of the service hold, and the size is the one that
// the decision was based on. The minimum number of nodes is never borrowed.

import type { AllocationId, Attempt, NodeId } from "../../base/ids.ts";
import { nextAttempt } from "../../base/ids.ts";
import { present } from "../../base/invariant.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse } from "../../base/outcome.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { attemptAt } from "../../model/allocation/node-attempts.ts";
import type { NodeProgress, RunningPhase } from "../../model/allocation/phase.ts";
import { placementConstraints } from "../../model/allocation/placement-constraints.ts";
import type { Node } from "../../model/node/node.ts";
import { describeShortfall, shortfalls } from "../../model/node/shortfalls.ts";
import { isService } from "../../model/spec/spec.ts";
import { borrowRefusal, lendableNodes } from "../../queries/lending.ts";
import { poolLeft } from "../../queries/sensitive-pool.ts";
import { isFree } from "../../state/indexes.ts";
import { takeClaims } from "../../transitions/claims/claims.ts";
import type { Resize } from "../../transitions/scaling/resize.ts";
import { mostNodes, recordResize, removeNode } from "../../transitions/scaling/resize.ts";
import type { Step } from "../../transitions/step.ts";

/** Adds a node to a running service, or removes one. */
export interface ScaleCommand extends Resize {
  readonly kind: "allocation.scale";
  readonly allocation: AllocationId;
  /** The attempt and the size that the decision was based on. */
  readonly attempt: Attempt;
  readonly size: number;
}

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

  const attempt = nextAttempt(record.attempt);
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
  const counted: Allocation = { ...record, attempt, added: record.added + 1 };
  recordResize(step, counted, grown, { ...command, node: node.id }, record);
  return accepted(record.id);
}

function shrink(step: Step, record: Allocation, phase: RunningPhase, command: ScaleCommand): Outcome {
  const at = phase.nodes.indexOf(command.node);
  if (at < 0) return refuse("stale_plan", `allocation ${record.id} does not run on ${quote(command.node)}`);
  const least = command.reason === "renewal" ? 1 : record.spec.resources.minNodes;
  if (phase.nodes.length <= least)
    return refuse("illegal_transition", `allocation ${record.id} needs its ${least} nodes`);
  const hasOtherNode = phase.progress.some(({ state }, i) => i !== at && state === "running");
  if (!hasOtherNode) return refuse("illegal_transition", `allocation ${record.id} runs on no other node`);
  removeNode(step, record, phase, command);
  return accepted(record.id);
}

const isBorrowed = (record: Allocation, node: Node | undefined): boolean =>
  node !== undefined && node.homeVCluster !== null && node.homeVCluster !== record.spec.vcluster;

/** Returns `null` when the node has no home, is at home in this vCluster, or is lent. */
function whyNotBorrowed(step: Step, record: Allocation, phase: RunningPhase, node: Node): string | null {
  if (!isBorrowed(record, node) || node.homeVCluster === null) return null;
  const home = node.homeVCluster;
  const own = phase.nodes.filter((id: NodeId) => !isBorrowed(record, step.state.node(id))).length;
  const { minNodes } = record.spec.resources;
  if (own < minNodes) return `the least ${minNodes} nodes of a service are not borrowed`;
  const bar = borrowRefusal(step.state, record.spec, home);
  if (bar !== null) return `node "${node.id}" serves vCluster "${home}" only: ${bar}`;
  return lendableNodes(step.state, home) > 0 ? null : `vCluster "${home}" lends no more nodes`;
}
