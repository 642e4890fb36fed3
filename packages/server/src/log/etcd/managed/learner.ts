// Waits while a new member copies the log. Until the cluster has given it a vote, it answers with its status only; the
// servers of the cluster promote it.

import { setTimeout as sleep } from "node:timers/promises";
import type { EtcdTls } from "../client/channel.ts";
import { createEtcdClient } from "../client/client.ts";
import { ManagedError } from "./managed-error.ts";

/** Longer than etcd needs for its largest database on a slow disk. */
const PROMOTED_WITHIN_MS = 600_000;
const POLL_MS = 100;
const STATUS_TIMEOUT_MS = 1_000;
const REPORT_EVERY_MS = 5_000;

/** Resolves at once for a member that does not answer, which may wait for the others. */
export async function untilVoter(
  endpoint: string,
  tls: EtcdTls | null,
  onProgress: (text: string) => void,
): Promise<void> {
  const client = createEtcdClient({ endpoints: [endpoint], tls });
  const startedAt = performance.now();
  let reportAt = startedAt + REPORT_EVERY_MS;
  try {
    while ((await client.status(STATUS_TIMEOUT_MS).catch(() => null))?.isLearner === true) {
      const now = performance.now();
      if (now - startedAt > PROMOTED_WITHIN_MS) throw notPromoted();
      if (now > reportAt) {
        onProgress("the etcd member of this server copies the log and waits for its vote");
        reportAt = now + REPORT_EVERY_MS;
      }
      await sleep(POLL_MS);
    }
  } finally {
    client.close();
  }
}

const notPromoted = (): ManagedError =>
  new ManagedError(
    "not_taken_in",
    "the cluster has not given the etcd member of this server a vote; check `lattice admin raft status` on another server",
  );
