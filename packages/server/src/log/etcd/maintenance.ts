// Keeps etcd's database bounded. Every append leaves an old revision behind, which compaction drops; freed pages are
// reused. A member of our own whose file consists mostly of free pages is defragmented, rarely, because it answers
// nothing meanwhile. The decision is a pure function of the member's status.

import type { StatusResponse } from "../../../gen/etcdserverpb/rpc_pb.ts";
import type { EtcdClient } from "./client/client.ts";
import { EtcdError } from "./client/etcd-error.ts";

/** Least time between two compactions: each makes every member scan its database. */
const COMPACT_GAP_MS = 10_000;
const DEFRAGMENT_GAP_MS = 60 * 60_000;
/** A full member loses little by a pause, but its data may all be needed. */
const FULL_GAP_MS = 60_000;
/** Smaller files are not worth a pause. */
const DEFRAGMENT_FROM_BYTES = 512 * 1024 * 1024;
const FREE_SHARE = 0.5;

export interface Maintenance {
  /** Drops revisions before this one, unless a compaction ran a moment ago. */
  compact(revision: bigint): Promise<void>;
  /** Returns the bytes in use, after any maintenance that is due. */
  run(): Promise<{ readonly bytes: number; readonly full: boolean }>;
}

interface MemberSize {
  readonly fileBytes: number;
  readonly usedBytes: number;
  readonly full: boolean;
  readonly leads: boolean;
}

type Due = "defragment" | "nothing";

/**
 * A leader of etcd is spared unless it is full: the pause would cost the cluster an election. The free pages of a
 * full member are unknown, because it counts them when it writes.
 */
export function decideMaintenance(member: MemberSize, sinceDefragmentMs: number): Due {
  if (member.full) return sinceDefragmentMs >= FULL_GAP_MS ? "defragment" : "nothing";
  if (member.leads || member.fileBytes < DEFRAGMENT_FROM_BYTES) return "nothing";
  const free = member.fileBytes - member.usedBytes;
  if (free < member.fileBytes * FREE_SHARE || sinceDefragmentMs < DEFRAGMENT_GAP_MS) return "nothing";
  return "defragment";
}

export function createMaintenance(
  client: EtcdClient,
  options: { readonly ownMember: boolean; readonly compactGapMs?: number },
): Maintenance {
  const compactGapMs = options.compactGapMs ?? COMPACT_GAP_MS;
  let compactedAt = Number.NEGATIVE_INFINITY;
  let defragmentedAt = Number.NEGATIVE_INFINITY;
  const drop = async (revision: bigint, physical: boolean): Promise<void> => {
    try {
      await client.compact(revision, physical);
    } catch (cause) {
      // Another server has compacted further.
      if (!(cause instanceof EtcdError) || cause.kind !== "compacted") throw cause;
    }
  };
  return {
    async compact(revision) {
      if (performance.now() - compactedAt < compactGapMs) return;
      compactedAt = performance.now();
      await drop(revision, false);
    },
    async run() {
      let status = await client.status();
      const full = isFull(status);
      // A full database accepts only this write, and without it no space is released.
      if (full) {
        await drop(status.header?.revision ?? 0n, true);
        status = await client.status();
      }
      const member = factsOf(status);
      const due = options.ownMember ? decideMaintenance(member, performance.now() - defragmentedAt) : "nothing";
      if (due === "nothing") return { bytes: member.usedBytes, full };
      defragmentedAt = performance.now();
      await client.defragment();
      if (full) await client.disarmNoSpace(status.header?.memberId ?? 0n);
      status = await client.status();
      return { bytes: Number(status.dbSizeInUse), full: isFull(status) };
    },
  };
}

const isFull = (status: StatusResponse): boolean => status.errors.some((text) => text.includes("NOSPACE"));

const factsOf = (status: StatusResponse): MemberSize => ({
  fileBytes: Number(status.dbSize),
  usedBytes: Number(status.dbSizeInUse),
  full: isFull(status),
  leads: status.leader === status.header?.memberId,
});
