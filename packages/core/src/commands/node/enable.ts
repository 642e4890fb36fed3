// node.enable: an administrator returns a disabled or quarantined node to its earlier state.

import type { NodeId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse } from "../../base/outcome.ts";
import type { Origin } from "../../model/origin.ts";
import { returnToService } from "../../transitions/node/return-to-service.ts";
import type { Step } from "../../transitions/step.ts";

export interface EnableNodeCommand {
  readonly kind: "node.enable";
  readonly origin: Origin;
  readonly node: NodeId;
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
  // A drained node has no work left.
  if (state.back === "drained" && node.claims.length > 0) {
    const left = node.claims.length;
    return refuse("illegal_transition", `node "${node.id}" has yet to confirm the end of ${left} of its allocations`);
  }

  const { faults: _forgiven, drift: _accepted, ...rest } = node;
  returnToService(step, rest, state);
  return accepted(node.id);
}
