// Takes a node down, and its work with it: every allocation on it is requeued or failed by its policy. Where no agent is
// left to confirm the end, the claims are released at once: the node cannot be placed on while it is down, and a
// returning agent is ordered to stop what is no longer assigned. A disabled node's agent may be alive, so there the
// claims wait for its report.

import type { Instant } from "../../base/ids.ts";
import { invariant, present } from "../../base/invariant.ts";
import { isPlaced } from "../../model/allocation/phase.ts";
import type { Claim, DownCause, Node, NodeState } from "../../model/node/node.ts";
import { failOrRequeue } from "../attempt/failure.ts";
import { releaseClaim } from "../claims/claims.ts";
import { moveNode } from "../claims/move-node.ts";
import { isWaitingBehind, returnFromBehind } from "../claims/return-from-behind.ts";
import { loseNode } from "../scaling/lose-node.ts";
import type { Step } from "../step.ts";

interface NodeOutage {
  readonly cause: DownCause;
  readonly reason: string;
  /** The time of the next probe. */
  readonly until?: Instant;
}

export function takeDown(step: Step, node: Node, how: NodeOutage): void {
  const { cause, reason, until } = how;
  moveNode(step, node, {
    kind: "down",
    since: step.at,
    cause,
    reason,
    back: backOf(node.state),
    ...(until === undefined ? {} : { until }),
  });
  const message = `node "${node.id}" is down (${cause})${reason === "" ? "" : `: ${reason}`}`;
  for (const claim of node.claims) {
    if (!claim.releasing) endAttempt(step, node, claim, { message, gone: cause !== "disabled" });
    else if (cause !== "disabled") releaseClaim(step, node.id, refOf(claim));
    // The agent may be alive, only paused or disconnected; the order reaches it after it reconnects.
    if (cause !== "disabled")
      step.effects.push({ kind: "stop", node: node.id, ...refOf(claim), reason: "node_failure" });
  }
}

/** Releases all claims: the node is silent as well as down, so no agent will confirm. */
export function releaseAll(step: Step, node: Node): void {
  for (const claim of node.claims) releaseClaim(step, node.id, refOf(claim));
}

function endAttempt(
  step: Step,
  node: Node,
  claim: Claim,
  end: { readonly message: string; readonly gone: boolean },
): void {
  const record = present(step.state.allocation(claim.allocation), `the claim of ${claim.allocation} has no allocation`);
  invariant(isPlaced(record.phase), `${claim.allocation} holds ${node.id} but is ${record.phase.kind}`);
  if (isWaitingBehind(record, record.phase, claim)) {
    const lostNode = end.gone ? node.id : null;
    returnFromBehind(step, record, record.phase, { lostNode, cause: "node_failure", message: end.message });
    return;
  }
  const lost = { node: node.id, reason: "node_failure", detail: end.message, isLost: end.gone } as const;
  if (loseNode(step, record, record.phase, lost)) return;
  failOrRequeue(step, record, record.phase, {
    reason: "node_failure",
    exitCode: null,
    message: end.message,
    lostNode: end.gone ? node.id : null,
  });
}

const refOf = ({ allocation, attempt }: Claim) => ({ allocation, attempt });

function backOf(state: NodeState): "ready" | "drained" {
  if (state.kind === "down") return state.back;
  if (state.kind === "draining" && state.quarantineUntil !== undefined) return "ready";
  return state.kind === "draining" || state.kind === "drained" ? "drained" : "ready";
}
