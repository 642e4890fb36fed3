// Notices that etcd does not hold the log that this handle has followed: an answer comes from another etcd cluster, or
// the log ends before an entry that was durable. From then on the handle refuses every call; its server ends.

import { LogError } from "../contract/replicated-log.ts";

export interface StoreGuard {
  /** `null` while nothing was noticed. */
  lost(): LogError | null;
  /** Throws when the answer came from another cluster of etcd than the answers before it. */
  answered(clusterId: bigint): void;
  /** Throws when the log ends before `known`, an index that was durable before the end was read. */
  endsAt(stored: number, known: number): void;
}

/** `onLost` is called once. */
export function createStoreGuard(onLost: (error: LogError) => void): StoreGuard {
  let first: bigint | null = null;
  let lost: LogError | null = null;
  const lose = (what: string): LogError => {
    lost = new LogError("log_lost", `${what}; ${ADVICE}`);
    onLost(lost);
    return lost;
  };
  return {
    lost: () => lost,
    answered(clusterId) {
      if (lost !== null) throw lost;
      first ??= clusterId;
      if (clusterId !== first)
        throw lose(`etcd answers as cluster ${clusterId.toString(16)}, and was cluster ${first.toString(16)}`);
    },
    endsAt(stored, known) {
      if (lost !== null) throw lost;
      if (stored < known)
        throw lose(
          stored === 0 ? `the log is gone from etcd` : `the log in etcd ends at entry ${stored}, not ${known}`,
        );
    },
  };
}

const ADVICE =
  "this server does not follow another log. Check quorum.etcd.endpoints and the other servers; if all of them have lost " +
  "the log, start one with --bootstrap --recover-from";
