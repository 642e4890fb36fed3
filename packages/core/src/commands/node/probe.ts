// node.probe: a quarantined node gets work again, one failure away from the next quarantine.

import type { NodeId } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { accepted, quote, refuse, unchanged } from "../../base/outcome.ts";
import { FAULTS_TO_QUARANTINE } from "../../model/node/quarantine-rule.ts";
import { endQuarantine } from "../../transitions/node/quarantine.ts";
import type { Step } from "../../transitions/step.ts";

export interface ProbeNodeCommand {
  readonly kind: "node.probe";
  readonly node: NodeId;
  /** The number of newest faults that stay recorded. Default: one less than the limit. */
  readonly keep?: number;
}

export function probeNode(step: Step, command: ProbeNodeCommand): Outcome {
  const { node: id, keep = FAULTS_TO_QUARANTINE - 1 } = command;
  const node = step.state.node(id);
  if (node === undefined) return refuse("unknown_node", `there is no node ${quote(id)}`);
  if (node.state.kind !== "down" || node.state.until === undefined) return unchanged(id);
  if (step.at < node.state.until) return refuse("stale_report", `node "${id}" is quarantined for longer`);
  const faults = keep <= 0 ? [] : (node.faults ?? []).slice(-keep);
  const { faults: _before, ...rest } = node;
  endQuarantine(step, faults.length === 0 ? rest : { ...rest, faults }, node.state);
  return accepted(id);
}
