// The other servers of the cluster that are there at this moment, and a line to each. The log's store
// tells who they are; a server that started again has another token and gets another line.

import type { ChannelCredentials } from "@grpc/grpc-js";
import type { EntryReader } from "../lead/commit/versions.ts";
import type { LogServer } from "../log/replicated-log.ts";
import type { AuditSource } from "../state/audit/fill.ts";
import type { HistorySource } from "../state/history/fill.ts";
import { FIRST_ENTRY_VERSION, type PeerName, parsePeer } from "./address.ts";
import { connectPeer, type PeerClient } from "./client.ts";

export interface Roster {
  /** In order of id. */
  others(): readonly PeerName[];
  /** Everybody else who reads the log, those included whom no line leads to: the first version told its address alone. */
  readers(): readonly EntryReader[];
  /** A line to one of them; null when it is not there. */
  client(id: string): PeerClient | null;
  close(): void;
}

interface Options {
  readonly selfId: string;
  /** As the log tells it. */
  readonly present: () => readonly LogServer[];
  readonly credentials: ChannelCredentials;
}

export function createRoster({ selfId, present, credentials }: Options): Roster {
  const lines = new Map<string, PeerClient>();

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
    lines.get(id)?.close();
    lines.delete(id);
  };

  return {
    others,
    readers,
    client(id) {
      const peer = others().find((other) => other.id === id);
      const line = lines.get(id);
      if (line !== undefined && line.token === peer?.token && !line.refused) return line;
      drop(id);
      if (peer === undefined) return null;
      const fresh = connectPeer(peer, credentials);
      lines.set(id, fresh);
      return fresh;
    },
    close() {
      for (const id of [...lines.keys()]) drop(id);
    },
  };
}

/** Whom to ask for archived records: the leader first, for it is the likeliest to have them all. */
export function historySources(roster: Roster, leader: string | null): readonly (HistorySource & AuditSource)[] {
  const others = [...roster.others()].sort((a, b) => Number(b.id === leader) - Number(a.id === leader));
  return others.flatMap(({ id, token }) => {
    const line = roster.client(id);
    return line === null ? [] : [{ id, token, read: line.readHistory, readAudit: line.readAudit }];
  });
}
