// Claims on nodes: taken by a committed placement, marked releasing when the attempt is to end,
// gone when the node has confirmed it. The last claim to leave a draining node drains it.

import type { AttemptRef } from "../allocation/phase.ts";
import type { Duration, NodeId } from "../ids.ts";
import { present } from "../invariant.ts";
import type { Step } from "../step.ts";
import { moveNode } from "./move.ts";
import type { Claim, Node } from "./node.ts";

export function takeClaim(step: Step, node: Node, claim: Claim): void {
  step.state.putNode({ ...node, claims: [...node.claims, claim] });
}

/** Orders the node to end the attempt; ordered once, since a claim is marked once. */
export function markReleasing(
  step: Step,
  id: NodeId,
  ref: AttemptRef,
  { reason, grace }: { readonly reason: string; readonly grace?: Duration },
): void {
  const { node, claim } = holding(step, id, ref);
  if (claim.releasing) return;
  const given = grace === undefined ? {} : { grace };
  const claims = node.claims.map((c) => (c === claim ? { ...c, releasing: true, ...given } : c));
  step.state.putNode({ ...node, claims });
  step.effects.push({ kind: "stop", node: id, ...ref, reason, ...given });
}

export function releaseClaim(step: Step, id: NodeId, ref: AttemptRef): void {
  const { node, claim } = holding(step, id, ref);
  const freed: Node = { ...node, claims: node.claims.filter((c) => c !== claim) };
  step.state.putNode(freed);
  step.events.push({
    kind: "claim_released",
    node: id,
    ...ref,
    tenant: claim.tenant,
    vcluster: claim.vcluster,
  });
  if (freed.state.kind === "draining" && freed.claims.length === 0) {
    moveNode(step, freed, { kind: "drained", since: step.at, reason: freed.state.reason });
  }
}

function holding(step: Step, id: NodeId, ref: AttemptRef): { readonly node: Node; readonly claim: Claim } {
  const node = present(step.state.node(id), `node ${id} is claimed but not known`);
  const claim = node.claims.find((c) => c.allocation === ref.allocation && c.attempt === ref.attempt);
  return { node, claim: present(claim, `node ${id} has no claim of ${ref.allocation} attempt ${ref.attempt}`) };
}
