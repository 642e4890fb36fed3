// Announces a member that is about to start, through a client endpoint of etcd. A repeated announcement changes
// nothing.

import { setTimeout as sleep } from "node:timers/promises";
import type { EtcdTls } from "../client/channel.ts";
import { createEtcdClient } from "../client/client.ts";
import { addressOf } from "../cluster.ts";
import { type MemberPlace, type MemberTls, peerUrl } from "./command-line.ts";
import { ManagedError } from "./managed-error.ts";

/** etcd accepts no new member until the last one has been connected for a few seconds. */
const JOIN_WITHIN_MS = 60_000;
const JOIN_PAUSE_MS = 500;

interface Announced extends MemberPlace {
  readonly tls: { readonly files: MemberTls; readonly texts: EtcdTls } | null;
}

/** Announces this member, unless it is known already. */
export async function announce(options: Announced, endpoints: readonly string[]): Promise<readonly MemberPlace[]> {
  const client = createEtcdClient({ endpoints, tls: options.tls?.texts ?? null });
  const url = peerUrl(options.peer, options.tls?.files ?? null);
  try {
    const before = await client.memberList();
    const known = before.find((member) => member.peerUrls.includes(url) || member.name === options.name);
    if (known !== undefined && known.name !== "") {
      const what = `the cluster knows ${known.name} at ${known.peerUrls.join(", ")}, but there is no data of it here`;
      throw new ManagedError("already_member", `${what}; remove that member and join again`);
    }
    const members = known === undefined ? await addPatiently(client, url) : before;
    const places = members.map(({ name, peerUrls }) => ({ name, peer: addressOf(peerUrls[0] ?? "") }));
    return namedPlaces(options, places);
  } finally {
    client.close();
  }
}

/**
 * Returns the initial list of a new member. etcd needs a distinct name for each; members that were never started have
 * none, and only the addresses are compared.
 */
export const namedPlaces = (own: MemberPlace, members: readonly MemberPlace[]): readonly MemberPlace[] =>
  members.map(({ name, peer }, n) => {
    if (peer === own.peer) return { name: own.name, peer };
    return { name: name === "" || name === own.name ? `other-${n}` : name, peer };
  });

async function addPatiently(client: ReturnType<typeof createEtcdClient>, url: string) {
  const until = performance.now() + JOIN_WITHIN_MS;
  for (;;) {
    try {
      return (await client.memberAdd(url)).members;
    } catch (cause) {
      const tooSoon = cause instanceof Error && cause.message.includes("unhealthy cluster");
      if (!tooSoon || performance.now() > until) throw cause;
      await sleep(JOIN_PAUSE_MS);
    }
  }
}
