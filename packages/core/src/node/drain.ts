// Draining keeps new work away and lets the present work end; the last claim to go makes the
// node drained. An urgent one asks those who can for a checkpoint, after which they go elsewhere. Only a
// drained node can be undrained.

import { withNote } from "../allocation/keep-past.ts";
import { suspendForDrain } from "../checkpoint/ask.ts";
import type { DrainNodeCommand, UndrainNodeCommand } from "../command.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, type Step, unchanged } from "../step.ts";
import { moveNode } from "./move.ts";
import type { Node } from "./node.ts";

/** Servers of the version before keep the first reason. */
const REASON_VERSION = 2;

export function drainNode(step: Step, command: DrainNodeCommand): Outcome {
  const node = step.state.node(command.node);
  if (node === undefined) return refuse("unknown_node", `there is no node ${quote(command.node)}`);
  const { kind } = node.state;
  if (kind === "draining" && command.urgent === true) {
    const renamed = withReason(step, node, command.reason);
    const asked = suspendForDrain(step, renamed ?? node);
    return asked || renamed !== null ? accepted(node.id) : unchanged(node.id);
  }
  // It was to be set aside for a while; now somebody wants it out of service for good.
  if (node.state.kind === "draining" && node.state.asideUntil !== undefined) {
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

/** Drained again with another reason: that one counts from now on, and is no move. Null: it stays as it was. */
function withReason(step: Step, node: Node, reason: string): Node | null {
  const { state } = node;
  if (step.version < REASON_VERSION || reason === "") return null;
  if ((state.kind !== "draining" && state.kind !== "drained") || state.reason === reason) return null;
  const renamed: Node = { ...node, state: { ...state, reason } };
  step.state.putNode(renamed);
  return renamed;
}

/** Whoever runs there. */
function tellWork(step: Step, { id, claims }: Node, reason: string): void {
  const text = `Node ${id} is being drained${reason === "" ? "" : `: ${reason}`}.`;
  for (const { allocation, releasing } of claims) {
    const record = releasing ? undefined : step.state.allocation(allocation);
    if (record === undefined) continue;
    step.state.putAllocation(withNote(record, { type: "decision", kind: "node_draining", text, nodes: [id] }, step));
  }
}

export function undrainNode(step: Step, command: UndrainNodeCommand): Outcome {
  const node = step.state.node(command.node);
  if (node === undefined) return refuse("unknown_node", `there is no node ${quote(command.node)}`);
  const { kind } = node.state;
  if (kind !== "drained") {
    return refuse("illegal_transition", `node "${node.id}" is ${kind}; only a drained node can be undrained`);
  }

  moveNode(step, node, { kind: "ready", since: step.at });
  return accepted(node.id);
}
