// The other servers that are present in the log's store, with a client for each. A server that has restarted has another
// token and gets a new client.

import type { ChannelCredentials } from "@grpc/grpc-js";
import type { EntryReader } from "../lead/commit/versions.ts";
import type { LogServer } from "../log/contract/replicated-log.ts";
import type { AuditSource } from "../state/audit/fill.ts";
import type { HistorySource } from "../state/history/fill.ts";
import { FIRST_ENTRY_VERSION, type PeerName, parsePeer } from "./address.ts";
import type { ClusterCheck } from "./check-cluster.ts";
import { connectPeer, type PeerClient } from "./client.ts";

export interface Roster {
  /** Ordered by id. */
  others(): readonly PeerName[];
  /** All other readers of the log, including servers of the first version, which cannot be called. */
  readers(): readonly EntryReader[];
  /** Returns the client of one of them; `null` when it is not present. */
  client(id: string): PeerClient | null;
  close(): void;
}

interface Options {
  readonly selfId: string;
  /** Returns the servers in the log's store. */
  readonly present: () => readonly LogServer[];
  readonly credentials: ChannelCredentials;
  /** Default: servers of other clusters are not detected. */
  readonly cluster?: ClusterCheck;
}

export function createRoster({ selfId, present, credentials, cluster }: Options): Roster {
  const clients = new Map<string, PeerClient>();

  const others = (): readonly PeerName[] =>
    present()
      .flatMap(({ name }) => parsePeer(name) ?? [])
      .filter(({ id }) => id !== selfId)
      .sort((a, b) => (a.id < b.id ? -1 : 1));

  const readers = (): readonly EntryReader[] =>
    present()
      .map(({ id, name }) => parsePeer(name) ?? { id, entryVersion: FIRST_ENTRY_VERSION })
      .filter(({ id }) => id !== selfId)
      .sort((a, b) => (a.id < b.id ? -1 : 1));

  const drop = (id: string): void => {
    clients.get(id)?.close();
    clients.delete(id);
  };

  return {
    others,
    readers,
    client(id) {
      const peer = others().find((other) => other.id === id);
      const client = clients.get(id);
      if (client !== undefined && client.token === peer?.token && !client.refused) return client;
      drop(id);
      if (peer === undefined) return null;
      const fresh = connectPeer(peer, credentials, cluster);
      clients.set(id, fresh);
      return fresh;
    },
    close() {
      for (const id of [...clients.keys()]) drop(id);
    },
  };
}

/** Sources of archived records: the leader first, since it most likely has all of them. */
export function historySources(roster: Roster, leader: string | null): readonly (HistorySource & AuditSource)[] {
  const others = [...roster.others()].sort((a, b) => Number(b.id === leader) - Number(a.id === leader));
  return others.flatMap(({ id, token }) => {
    const client = roster.client(id);
    return client === null ? [] : [{ id, token, read: client.readHistory, readAudit: client.readAudit }];
  });
}
