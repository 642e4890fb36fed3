// Shared nodes: an allocation that needs less than a node joins others of its tenant and vCluster on a node that they
// share already, the fullest with enough capacity, so that other nodes stay whole. Only where none has capacity it
// takes a free node, which others may then join. A reserved node takes no job that would end after the reservation
// starts.

import { type AllocationId, fits, fitsRoom, type NodeId, type Share, shareOf } from "@lattice/core";
import type { Job } from "../fit/job.ts";
import type { CycleInput, PendingInput, SharedNodeInput } from "../input/cycle-input.ts";
import type { Draft } from "../plan/draft.ts";

export interface NodeSharing {
  /** Takes capacity of a shared node and returns the node; `null` when none has enough. */
  joinSharedNode(job: Job): NodeId | null;
  /** Adds a free node that the job has started to share. */
  addSharedNode(job: Job, node: NodeId): void;
  /** Whether there is any node to join. */
  readonly hasSharedNodes: boolean;
}

type SharedNode = Omit<SharedNodeInput, "remaining"> & { remaining: SharedNodeInput["remaining"] };

export function createNodeSharing(
  draft: Draft,
  { sharedNodes: given = [], foreignReservations = [] }: Pick<CycleInput, "sharedNodes" | "foreignReservations">,
): NodeSharing {
  const sharedNodes: SharedNode[] = given.map((shared) => ({ ...shared }));
  const { indexOf } = draft.machine;

  function mayStay(job: Job, node: NodeId): boolean {
    const index = indexOf.get(node);
    if (index === undefined) return false;
    const endsAt = draft.now + job.occupancy;
    if (foreignReservations.some(({ nodes, startsAt }) => nodes.includes(node) && endsAt > startsAt)) return false;
    return draft.reservations.every(
      (reservation) => !reservation.nodes.includes(index) || endsAt <= reservation.startsAt,
    );
  }

  function shareFor({ input }: Job, shared: SharedNode): Share | null {
    if (input.canShareNode !== true || input.tenant !== shared.tenant) return null;
    // Storage bandwidth is charged for whole starts only.
    if (input.constraints.storageMBps !== undefined) return null;
    if (!fits(input.constraints, shared.node, shared.capabilities)) return null;
    const share = shareOf(input.constraints, shared.capabilities);
    return fitsRoom(share, shared.remaining) ? share : null;
  }

  const take = (shared: SharedNode, share: Share): void => {
    shared.remaining = {
      cpuCores: shared.remaining.cpuCores - share.cpuCores,
      memoryBytes: shared.remaining.memoryBytes - share.memoryBytes,
      gpuCount: shared.remaining.gpuCount - share.gpuCount,
    };
  };

  return {
    get hasSharedNodes() {
      return sharedNodes.length > 0;
    },
    joinSharedNode(job) {
      const required = job.input.constraints.requiredNodes;
      const open = sharedNodes
        .flatMap((shared) => {
          const share = shareFor(job, shared);
          return share === null || !mayStay(job, shared.node) ? [] : [{ shared, share }];
        })
        .filter(({ shared }) => required.every((node) => node === shared.node))
        .sort((a, b) => fullness(b.shared) - fullness(a.shared) || (a.shared.node < b.shared.node ? -1 : 1));
      const [best] = open;
      if (best === undefined) return null;
      take(best.shared, best.share);
      return best.shared.node;
    },
    addSharedNode(job, node) {
      const index = indexOf.get(node);
      const capabilities = index === undefined ? undefined : draft.machine.nodes[index];
      if (capabilities === undefined || job.input.canShareNode !== true) return;
      const { cpuCores, memoryBytes, gpuCount } = capabilities;
      const shared: SharedNode = {
        node,
        tenant: job.input.tenant,
        capabilities,
        remaining: { cpuCores, memoryBytes, gpuCount },
      };
      take(shared, shareOf(job.input.constraints, capabilities));
      sharedNodes.push(shared);
    },
  };
}

const fullness = ({ capabilities, remaining }: SharedNode): number =>
  capabilities.cpuCores - remaining.cpuCores + (capabilities.gpuCount - remaining.gpuCount) * capabilities.cpuCores;

/** Selects the pending allocations that may still join a node. */
export const canStillShare =
  (placed: ReadonlySet<AllocationId>) =>
  (input: PendingInput): boolean =>
    input.canShareNode === true && !placed.has(input.id);
