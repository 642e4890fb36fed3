// Disabling takes a node out from every state, at once; enabling brings back what an
// administrator or a quarantine has set aside, to where it was.

import type { DisableNodeCommand, EnableNodeCommand } from "../command.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, quote, refuse, type Step, unchanged } from "../step.ts";
import { takeDown } from "./down.ts";
import { bringBack } from "./heal.ts";

export function disableNode(step: Step, command: DisableNodeCommand): Outcome {
  const node = step.state.node(command.node);
  if (node === undefined) return refuse("unknown_node", `there is no node ${quote(command.node)}`);
  if (node.state.kind === "down" && node.state.cause === "disabled") return unchanged(node.id);

  takeDown(step, node, { cause: "disabled", reason: command.reason });
  return accepted(node.id);
}

export function enableNode(step: Step, command: EnableNodeCommand): Outcome {
  const node = step.state.node(command.node);
  if (node === undefined) return refuse("unknown_node", `there is no node ${quote(command.node)}`);
  const { state } = node;
  if (state.kind !== "down") {
    return refuse("illegal_transition", `node "${node.id}" is ${state.kind}; only a disabled node can be enabled`);
  }
  if (state.cause !== "disabled" && state.cause !== "quarantined") {
    return refuse("illegal_transition", `node "${node.id}" is down (${state.cause}), not disabled`);
  }
  // Drained means that nothing is left there.
  if (state.back === "drained" && node.claims.length > 0) {
    const left = node.claims.length;
    return refuse("illegal_transition", `node "${node.id}" has yet to confirm the end of ${left} of its allocations`);
  }

  const { faults: _forgiven, drift: _accepted, ...rest } = node;
  bringBack(step, rest, state);
  return accepted(node.id);
}
