// node.disable: takes a node out of service at once, from every state.

import type { NodeId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, unchanged } from "../../base/outcome.ts";
import type { Origin } from "../../model/origin.ts";
import { takeDown } from "../../transitions/node/take-down.ts";
import type { Step } from "../../transitions/step.ts";

export interface DisableNodeCommand {
  readonly kind: "node.disable";
  readonly origin: Origin;
  readonly node: NodeId;
  readonly reason: string;
}

export function disableNode(step: Step, command: DisableNodeCommand): Outcome {
  const node = step.state.node(command.node);
  if (node === undefined) return refuse("unknown_node", `there is no node ${quote(command.node)}`);
  if (node.state.kind === "down" && node.state.cause === "disabled") return unchanged(node.id);

  takeDown(step, node, { cause: "disabled", reason: command.reason });
  return accepted(node.id);
}
