// Shares: an allocation that asks for less than a node joins others of its tenant and vCluster on a node that they
// share already, the fullest that has room for it, so that whole nodes stay whole. Only where none has room it
// takes a free node, which others may then join. A node that is promised to somebody takes nobody who would stay
// longer than the promise.

import { type AllocationId, fits, fitsRoom, type NodeId, type Share, shareOf } from "@lattice/core";
import type { CycleInput, PendingInput, RoomInput } from "../cycle-types.ts";
import type { Draft } from "../draft.ts";
import type { Job } from "../job.ts";

export interface Packing {
  /** The node that it joins, which is then as much fuller; null: none has room. */
  join(job: Job): NodeId | null;
  /** It has begun to share this free node. */
  opened(job: Job, node: NodeId): void;
  /** Whether somebody could be joined at all. */
  readonly any: boolean;
}

type Room = Omit<RoomInput, "left"> & { left: RoomInput["left"] };

export function packingOf(
  draft: Draft,
  { rooms: given = [], foreign = [] }: Pick<CycleInput, "rooms" | "foreign">,
): Packing {
  const rooms: Room[] = given.map((room) => ({ ...room }));
  const { indexOf } = draft.machine;

  function mayStay(job: Job, node: NodeId): boolean {
    const index = indexOf.get(node);
    if (index === undefined) return false;
    const endsAt = draft.now + job.occupies;
    if (foreign.some(({ nodes, startsAt }) => nodes.includes(node) && endsAt > startsAt)) return false;
    return draft.held.every((held) => !held.nodes.includes(index) || endsAt <= held.startsAt);
  }

  function partFor({ input }: Job, room: Room): Share | null {
    if (input.shares !== true || input.tenant !== room.tenant) return null;
    // What storage gives is counted by whole starts alone.
    if (input.storageMBps !== undefined) return null;
    if (!fits(input.constraints, room.node, room.capabilities)) return null;
    const share = shareOf(input.constraints, room.capabilities);
    return fitsRoom(share, room.left) ? share : null;
  }

  const take = (room: Room, share: Share): void => {
    room.left = {
      cpuCores: room.left.cpuCores - share.cpuCores,
      memoryBytes: room.left.memoryBytes - share.memoryBytes,
      gpuCount: room.left.gpuCount - share.gpuCount,
    };
  };

  return {
    get any() {
      return rooms.length > 0;
    },
    join(job) {
      const required = job.input.constraints.requiredNodes;
      const open = rooms
        .flatMap((room) => {
          const share = partFor(job, room);
          return share === null || !mayStay(job, room.node) ? [] : [{ room, share }];
        })
        .filter(({ room }) => required.every((node) => node === room.node))
        .sort((a, b) => fullness(b.room) - fullness(a.room) || (a.room.node < b.room.node ? -1 : 1));
      const [best] = open;
      if (best === undefined) return null;
      take(best.room, best.share);
      return best.room.node;
    },
    opened(job, node) {
      const index = indexOf.get(node);
      const capabilities = index === undefined ? undefined : draft.machine.nodes[index];
      if (capabilities === undefined || job.input.shares !== true) return;
      const { cpuCores, memoryBytes, gpuCount } = capabilities;
      const room: Room = { node, tenant: job.input.tenant, capabilities, left: { cpuCores, memoryBytes, gpuCount } };
      take(room, shareOf(job.input.constraints, capabilities));
      rooms.push(room);
    },
  };
}

const fullness = ({ capabilities, left }: Room): number =>
  capabilities.cpuCores - left.cpuCores + (capabilities.gpuCount - left.gpuCount) * capabilities.cpuCores;

/** Those of the queue that may still join somebody, in order. */
export const mayJoin =
  (placed: ReadonlySet<AllocationId>) =>
  (input: PendingInput): boolean =>
    input.shares === true && !placed.has(input.id);
