// node.drain: keeps new work from a node and lets its work end; the node is drained when the last claim is released. An
// urgent drain requests checkpoints, after which the work is requeued elsewhere.

import type { NodeId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, unchanged } from "../../base/outcome.ts";
import { withNote } from "../../model/allocation/record-past.ts";
import type { Node } from "../../model/node/node.ts";
import type { Origin } from "../../model/origin.ts";
import { suspendForDrain } from "../../transitions/checkpoint/ask.ts";
import { moveNode } from "../../transitions/claims/move-node.ts";
import type { Step } from "../../transitions/step.ts";

export interface DrainNodeCommand {
  readonly kind: "node.drain";
  readonly origin: Origin;
  readonly node: NodeId;
  readonly reason: string;
  /** Checkpoints and requeues the work that supports it; other work ends by itself. Default: all work ends by itself. */
  readonly urgent?: boolean;
}

export function drainNode(step: Step, command: DrainNodeCommand): Outcome {
  const node = step.state.node(command.node);
  if (node === undefined) return refuse("unknown_node", `there is no node ${quote(command.node)}`);
  const { kind } = node.state;
  if (kind === "draining" && command.urgent === true) {
    const renamed = withReason(step, node, command.reason);
    const asked = suspendForDrain(step, renamed ?? node);
    return asked || renamed !== null ? accepted(node.id) : unchanged(node.id);
  }
  // The drain of a quarantine becomes permanent.
  if (node.state.kind === "draining" && node.state.quarantineUntil !== undefined) {
    step.state.putNode({ ...node, state: { kind: "draining", since: node.state.since, reason: command.reason } });
    return accepted(node.id);
  }
  if (kind === "draining" || kind === "drained") {
    return withReason(step, node, command.reason) === null ? unchanged(node.id) : accepted(node.id);
  }
  if (kind !== "ready" && kind !== "degraded") {
    return refuse("illegal_transition", `node "${node.id}" is ${kind}; only a ready or degraded node can be drained`);
  }

  const { reason } = command;
  const draining = moveNode(step, node, { kind: "draining", since: step.at, reason });
  tellWork(step, draining, reason);
  if (command.urgent === true) suspendForDrain(step, draining);
  if (draining.claims.length === 0) moveNode(step, draining, { kind: "drained", since: step.at, reason });
  return accepted(node.id);
}

/** A second drain replaces the reason without a move. Returns `null` when nothing changes. */
function withReason(step: Step, node: Node, reason: string): Node | null {
  const { state } = node;
  if (reason === "") return null;
  if ((state.kind !== "draining" && state.kind !== "drained") || state.reason === reason) return null;
  const renamed: Node = { ...node, state: { ...state, reason } };
  step.state.putNode(renamed);
  return renamed;
}

/** Notes the drain in every allocation on the node. */
function tellWork(step: Step, { id, claims }: Node, reason: string): void {
  const text = `Node ${id} is being drained${reason === "" ? "" : `: ${reason}`}.`;
  for (const { allocation, releasing } of claims) {
    const record = releasing ? undefined : step.state.allocation(allocation);
    if (record === undefined) continue;
    step.state.putAllocation(withNote(record, { type: "decision", kind: "node_draining", text, nodes: [id] }, step));
  }
}
