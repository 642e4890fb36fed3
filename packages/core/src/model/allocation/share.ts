// Shares of nodes: how much of a node an allocation takes, and what is left. A node is shared within one vCluster and
// one tenant only. The scheduler and `apply` both use it.

import type { TenantId, VClusterId } from "../../base/ids.ts";
import type { Capabilities, Node, Share } from "../node/node.ts";
import type { Constraints } from "../spec/spec.ts";
import { policyOf } from "../vcluster/policy.ts";
import type { VCluster } from "../vcluster/vcluster.ts";
import type { Allocation } from "./allocation.ts";

/** Only single-node work shares: a spec without amounts takes whole nodes, and so does a scaling service. */
export function mayShare(vcluster: VCluster, { spec }: Pick<Allocation, "spec">): boolean {
  const { minNodes, maxNodes, constraints, exclusive } = spec.resources;
  if (!policyOf(vcluster).sharesNodes || minNodes !== 1 || maxNodes !== 1 || exclusive === true) return false;
  if (spec.lifecycle.kind === "reactive") return false;
  return constraints.cpuCores > 0 || constraints.gpuCount > 0 || constraints.memoryBytes > 0;
}

type Amounts = Pick<Capabilities, "cpuCores" | "memoryBytes" | "gpuCount">;

/** Unset amounts follow the given ones: half of the GPUs come with half of the cores and memory. */
export function shareOf(wanted: Pick<Constraints, keyof Amounts>, whole: Amounts): Share {
  const part = Math.max(
    partOf(wanted.cpuCores, whole.cpuCores),
    partOf(wanted.memoryBytes, whole.memoryBytes),
    partOf(wanted.gpuCount, whole.gpuCount),
  );
  const rest = (amount: number): number => Math.floor((amount * part) / WHOLE);
  return {
    cpuCores: Math.max(1, wanted.cpuCores || rest(whole.cpuCores)),
    memoryBytes: wanted.memoryBytes || rest(whole.memoryBytes),
    gpuCount: wanted.gpuCount,
    part,
  };
}

/** The denominator of fractions of a node. */
export const WHOLE = 1024;

const partOf = (amount: number, whole: number): number =>
  whole === 0 ? 0 : Math.min(WHOLE, Math.ceil((WHOLE * amount) / whole));

/** Returns the amounts that no claim holds. Claims that are being released count until they are gone. */
export function roomOf({ capabilities, claims }: Pick<Node, "capabilities" | "claims">): Amounts {
  let { cpuCores, memoryBytes, gpuCount } = capabilities;
  for (const { share } of claims) {
    cpuCores -= share?.cpuCores ?? capabilities.cpuCores;
    memoryBytes -= share?.memoryBytes ?? capabilities.memoryBytes;
    gpuCount -= share?.gpuCount ?? capabilities.gpuCount;
  }
  return { cpuCores, memoryBytes, gpuCount };
}

export const fitsRoom = (share: Share, room: Amounts): boolean =>
  share.cpuCores <= room.cpuCores && share.memoryBytes <= room.memoryBytes && share.gpuCount <= room.gpuCount;

/** Returns whether work of this owner may join the work that is already on the node. */
export function isSharedBy(
  { state, claims }: Pick<Node, "state" | "claims">,
  owner: { readonly tenant: TenantId; readonly vcluster: VClusterId },
): boolean {
  if (state.kind !== "ready" || claims.length === 0) return false;
  return claims.every(
    ({ exclusive, tenant, vcluster }) => !exclusive && tenant === owner.tenant && vcluster === owner.vcluster,
  );
}
