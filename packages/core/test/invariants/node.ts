// Invariants of one node: at most one owner, every claim backed by its allocation, and no
// claim where the state says that nothing is left.

import { elementOf } from "../../src/base/ids.ts";
import { attemptOn } from "../../src/model/allocation/node-attempts.ts";
import { isPlaced } from "../../src/model/allocation/phase.ts";
import type { Claim, Node } from "../../src/model/node/node.ts";
import type { View } from "../../src/state/view.ts";

export function brokenNode(view: View, node: Node): string[] {
  const broken: string[] = [];
  const { id, claims, state } = node;
  const attempts = new Set(claims.map((claim) => `${claim.allocation}/${claim.attempt}`));
  if (attempts.size !== claims.length) broken.push(`node ${id} is claimed twice by one attempt`);
  const owners = claims.filter((claim) => claim.behind !== true);
  if (owners.length > 1 && owners.some((claim) => claim.exclusive)) broken.push(`node ${id} has two owners`);
  if (claims.length > 0 && owners.length === 0) broken.push(`node ${id} has claims behind none`);
  broken.push(...brokenLine(id, claims));
  if (claims.some((claim) => claim.exclusive !== (claim.share === undefined)))
    broken.push(`node ${id} has parts without an owner`);
  if (state.kind === "drained" && claims.length > 0) broken.push(`node ${id} is drained and claimed`);
  if (state.kind === "draining" && claims.length === 0) broken.push(`node ${id} is draining and empty`);
  if (state.kind === "down" && state.cause !== "disabled" && claims.length > 0) {
    broken.push(`node ${id} is down (${state.cause}) and claimed`);
  }
  if (state.kind === "down" && claims.some((claim) => !claim.releasing)) broken.push(`node ${id} is down and in use`);
  if (state.since > view.at) broken.push(`node ${id} changed in the future`);
  return [...broken, ...claims.flatMap((claim) => brokenClaim(view, node, claim))];
}

/** Only elements of one group wait behind each other, and only the first owns the node. */
function brokenLine(id: string, claims: Node["claims"]): string[] {
  if (!claims.some((claim) => claim.behind === true)) return [];
  const groups = new Set(claims.map(({ allocation }) => elementOf(allocation)?.group));
  const users = new Set(claims.map(({ tenant, vcluster }) => `${tenant}/${vcluster}`));
  const broken: string[] = [];
  if (groups.size > 1 || groups.has(undefined)) broken.push(`node ${id} has a line of several groups`);
  if (users.size > 1) broken.push(`node ${id} has a line of several owners`);
  if (claims.some((claim, at) => (claim.behind === true) !== at > 0)) broken.push(`node ${id} has a line out of order`);
  if (claims.some((claim) => !claim.exclusive)) broken.push(`node ${id} has shares in a line`);
  return broken;
}

function brokenClaim(view: View, node: Node, claim: Claim): string[] {
  const what = `the claim of ${claim.allocation}/${claim.attempt} on ${node.id}`;
  const record = view.allocation(claim.allocation);
  if (record === undefined) return [`${what} has no allocation`];
  const broken: string[] = [];
  const { spec, phase, attempt } = record;
  const own = attemptOn(record, node.id);
  if (claim.tenant !== spec.tenant || claim.vcluster !== spec.vcluster) broken.push(`${what} has another owner`);
  if (claim.attempt > attempt) broken.push(`${what} is ahead of its allocation`);
  const current = isPlaced(phase) && own === claim.attempt && phase.nodes.includes(node.id);
  if (current === claim.releasing) broken.push(`${what} is ${claim.releasing ? "" : "not "}releasing in ${phase.kind}`);
  return broken;
}
