// Assigns tasks to nodes: in blocks, in the order of the allocation's nodes. Pure: returns the layout or the reason
// against it.

import type { NodeId } from "@lattice/core";

export interface LayoutNode {
  readonly node: NodeId;
  readonly cores: number;
}

interface LayoutRequest {
  /** `null` when not requested. */
  readonly tasks: number | null;
  readonly tasksPerNode: number | null;
  /** Tasks per node of the submission. */
  readonly submitted: number;
}

export interface NodeShare {
  readonly node: NodeId;
  readonly firstRank: number;
  readonly tasks: number;
}

export type Layout =
  | { readonly kind: "layout"; readonly shares: readonly NodeShare[] }
  | {
      readonly kind: "refused";
      readonly field: "tasks" | "tasks_per_node";
      readonly detail: string;
      readonly hint: string;
    };

/** More tasks on a node would spend their time on context switches. */
const MAX_TASKS_PER_NODE = 1_024;

export function layoutTasks(nodes: readonly LayoutNode[], request: LayoutRequest): Layout {
  const { tasks, tasksPerNode } = request;
  if (tasks === 0) return refused("tasks", "must be at least 1", "Leave it out for tasks on every node.");
  if (tasksPerNode === 0)
    return refused("tasks_per_node", "must be at least 1", "Leave it out to spread tasks evenly.");
  if (tasksPerNode !== null && tasksPerNode > MAX_TASKS_PER_NODE)
    return refused(
      "tasks_per_node",
      `is ${tasksPerNode}; at most ${MAX_TASKS_PER_NODE}`,
      "Use fewer tasks on each node.",
    );
  if (tasksPerNode !== null) return filled(nodes, tasksPerNode, tasks ?? nodes.length * tasksPerNode);
  return spread(nodes, tasks ?? nodes.length * Math.max(1, request.submitted), Math.max(1, request.submitted));
}

/** A fixed number on each node, until no tasks are left. */
function filled(nodes: readonly LayoutNode[], each: number, tasks: number): Layout {
  const room = nodes.length * each;
  if (tasks > room) {
    const detail = `is ${tasks}, and ${count(nodes.length, "node")} with ${count(each, "task")} each take ${room}`;
    return refused("tasks", detail, "Request fewer tasks, more tasks on each node, or a larger allocation.");
  }
  return shared(
    nodes,
    nodes.map((_, n) => Math.max(0, Math.min(each, tasks - n * each))),
  );
}

/**
 * As evenly as possible, with the remainder on the first nodes; one task per core, unless the submission asks for
 * more.
 */
function spread(nodes: readonly LayoutNode[], tasks: number, submitted: number): Layout {
  const limits = nodes.map(({ cores }) => Math.max(1, cores, submitted));
  const room = limits.reduce((sum, limit) => sum + limit, 0);
  if (tasks > room) {
    const detail = `is ${tasks}, and the allocation has ${count(room, "core")} on ${count(nodes.length, "node")}`;
    return refused("tasks", detail, "Request fewer tasks, or use --tasks-per-node to share cores.");
  }
  const shares = limits.map((limit, n) =>
    Math.min(limit, Math.floor(tasks / nodes.length) + (n < tasks % nodes.length ? 1 : 0)),
  );
  let left = tasks - shares.reduce((sum, share) => sum + share, 0);
  for (const [n, limit] of limits.entries()) {
    const more = Math.min(left, limit - (shares[n] ?? 0));
    shares[n] = (shares[n] ?? 0) + more;
    left -= more;
  }
  return shared(nodes, shares);
}

function shared(nodes: readonly LayoutNode[], tasks: readonly number[]): Layout {
  let firstRank = 0;
  const shares: NodeShare[] = [];
  for (const [n, { node }] of nodes.entries()) {
    const own = tasks[n] ?? 0;
    if (own > 0) shares.push({ node, firstRank, tasks: own });
    firstRank += own;
  }
  return { kind: "layout", shares };
}

const refused = (field: "tasks" | "tasks_per_node", detail: string, hint: string): Layout => ({
  kind: "refused",
  field,
  detail,
  hint,
});

const count = (amount: number, what: string): string => `${amount} ${what}${amount === 1 ? "" : "s"}`;
