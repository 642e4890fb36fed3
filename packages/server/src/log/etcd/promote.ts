// Gives members that were added a vote once they have copied the log. Every server with a member of its own does this, so
// that a member is promoted whichever server added it, and also after that server has ended.

import { setTimeout as sleep } from "node:timers/promises";
import type { EtcdClient } from "./client/client.ts";

/** The member list is a read of the own member's memory. */
const CHECK_INTERVAL_MS = 500;

/** Runs until the signal aborts. */
export async function keepPromoting(
  client: Pick<EtcdClient, "memberList" | "memberPromote">,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(CHECK_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
    if (!signal.aborted) await promoteLearners(client);
  }
}

/** A refusal means that the member has not caught up, or that another server was faster: the next check decides. */
async function promoteLearners(client: Pick<EtcdClient, "memberList" | "memberPromote">): Promise<void> {
  const members = await client.memberList().catch(() => []);
  for (const { id, name, isLearner } of members) {
    // A member that was never started has no name.
    if (isLearner && name !== "") await client.memberPromote(id).catch(() => undefined);
  }
}
