// Claims on nodes: taken by a committed placement, marked releasing when the attempt is to end, removed when the node
// has confirmed the end. A draining node is drained when its last claim is removed.

import type { Duration, NodeId } from "../../base/ids.ts";
import { present } from "../../base/invariant.ts";
import type { AttemptRef } from "../../model/allocation/phase.ts";
import type { Claim, Node, NodeState } from "../../model/node/node.ts";
import type { Step } from "../step.ts";
import { moveNode } from "./move-node.ts";
import { returnToQueue } from "./return-to-queue.ts";

/** Takes the same claim on every one of the nodes; nodes without another claim share one list. */
export function takeClaims(step: Step, ids: readonly NodeId[], nodes: readonly Node[], claim: Claim): void {
  const alone: readonly Claim[] = [claim];
  const taken = nodes.map((node) => withClaims(node, node.claims.length === 0 ? alone : [...node.claims, claim]));
  if (taken.every((node) => node.claims === alone)) step.state.putClaimed(ids, taken, claim, 1);
  else for (const node of taken) step.state.putNode(node);
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
  const freed = withClaims(
    node,
    node.claims.length === 1
      ? NONE
      : withTurn(
          node.claims.filter((c) => c !== claim),
          step,
        ),
  );
  step.state.putNode(freed);
  const { allocation, attempt, tenant, vcluster } = claim;
  step.events.push({ kind: "claim_released", node: id, allocation, attempt, tenant, vcluster });
  if (freed.state.kind === "draining" && freed.claims.length === 0) endDrain(step, freed, freed.state);
  returnToQueue(step, ref.allocation);
}

/** The first claim owns the node; the ones behind it wait. */
function withTurn(claims: readonly Claim[], { at }: Step): readonly Claim[] {
  const [first, ...rest] = claims;
  if (first?.behind !== true) return claims;
  const { behind: _over, ...owner } = first;
  return [{ ...owner, since: at }, ...rest];
}

function endDrain(step: Step, node: Node, draining: Extract<NodeState, { readonly kind: "draining" }>): void {
  const { reason, quarantineUntil: until } = draining;
  const since = step.at;
  if (until === undefined) moveNode(step, node, { kind: "drained", since, reason });
  else moveNode(step, node, { kind: "down", since, cause: "quarantined", reason, back: "ready", until });
}

/**
 * Takes the same claim on all nodes at once. Returns false without a change when one of them needs individual handling.
 */
export function releaseAllAtOnce(step: Step, ids: readonly NodeId[], ref: AttemptRef): boolean {
  const freed: Node[] = [];
  let shared: Claim | undefined;
  for (const id of ids) {
    const node = step.state.node(id);
    const claim = node?.claims.length === 1 ? node.claims[0] : undefined;
    if (node === undefined || claim === undefined || node.state.kind === "draining") return false;
    if (claim.allocation !== ref.allocation || claim.attempt !== ref.attempt) return false;
    freed.push(withClaims(node, NONE));
    shared = claim;
  }
  if (shared === undefined) return false;
  step.state.putClaimed(ids, freed, shared, -1);
  const { allocation, attempt, tenant, vcluster } = shared;
  for (const node of ids) step.events.push({ kind: "claim_released", node, allocation, attempt, tenant, vcluster });
  returnToQueue(step, allocation);
  return true;
}

/** Copied field by field: a generic copy is ten times slower, and claims change often. */
function withClaims(node: Node, claims: readonly Claim[]): Node {
  const { faults, drift, homeAssigned, warning } = node;
  if ((faults ?? drift ?? homeAssigned ?? warning) !== undefined) return { ...node, claims };
  return {
    id: node.id,
    state: node.state,
    capabilities: node.capabilities,
    group: node.group,
    conformance: node.conformance,
    homeVCluster: node.homeVCluster,
    address: node.address,
    agentVersion: node.agentVersion,
    bootId: node.bootId,
    registeredAt: node.registeredAt,
    claims,
  } satisfies {
    readonly [Field in Exclude<keyof Required<Node>, "faults" | "drift" | "homeAssigned" | "warning">]: unknown;
  };
}

const NONE: readonly Claim[] = [];

function holding(step: Step, id: NodeId, ref: AttemptRef): { readonly node: Node; readonly claim: Claim } {
  const node = present(step.state.node(id), `node ${id} is claimed but not known`);
  const claim = node.claims.find((c) => c.allocation === ref.allocation && c.attempt === ref.attempt);
  return { node, claim: present(claim, `node ${id} has no claim of ${ref.allocation} attempt ${ref.attempt}`) };
}
