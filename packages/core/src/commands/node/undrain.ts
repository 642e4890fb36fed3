// node.undrain: an administrator returns a drained node to service.

import type { NodeId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse } from "../../base/outcome.ts";
import type { Origin } from "../../model/origin.ts";
import { moveNode } from "../../transitions/claims/move-node.ts";
import type { Step } from "../../transitions/step.ts";

export interface UndrainNodeCommand {
  readonly kind: "node.undrain";
  readonly origin: Origin;
  readonly node: NodeId;
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
