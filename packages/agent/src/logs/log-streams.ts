// The open log streams of this node, by the server's stream id: opened and closed by order, bounded in number, and
// closed with the agent. The streams are shared fairly among the users whose output they read: a user may open another
// while below the share that all would have with one user more, so that no user takes all of them.

import type { Client } from "@grpc/grpc-js";
import { type LogRequest, sendBusy, sendLogs } from "./send.ts";

/** Each costs about a megabyte when the server is slow. */
const MAX_LOG_STREAMS = 128;
const MAX_PER_ALLOCATION = 48;

interface LogOwner {
  readonly user: string;
  readonly allocationId: string;
}

export interface LogStreams {
  /** `from`: whose output it is. */
  open(client: Client, request: LogRequest, from: LogOwner): void;
  close(streamId: string): void;
  readonly count: number;
  closeAll(): void;
}

export function logStreams(): LogStreams {
  const open = new Map<string, { readonly abort: AbortController; readonly from: LogOwner | null }>();

  function isFull({ user, allocationId }: LogOwner): boolean {
    // A refusal takes no stream of others while it is sent.
    const owners = [...open.values()].flatMap(({ from }) => (from === null ? [] : [from]));
    const users = new Set([user, ...owners.map((owner) => owner.user)]).size;
    return (
      owners.length >= MAX_LOG_STREAMS ||
      owners.filter((owner) => owner.user === user).length >= MAX_LOG_STREAMS / (users + 1) ||
      owners.filter((owner) => owner.allocationId === allocationId).length >= MAX_PER_ALLOCATION
    );
  }

  return {
    open(client, request, from) {
      if (open.has(request.streamId)) return;
      const full = isFull(from);
      const abort = new AbortController();
      open.set(request.streamId, { abort, from: full ? null : from });
      const ended = full ? sendBusy(client, request.streamId) : sendLogs(client, request, abort.signal);
      void ended.finally(() => open.delete(request.streamId));
    },
    close(streamId) {
      open.get(streamId)?.abort.abort();
    },
    get count() {
      return open.size;
    },
    closeAll() {
      for (const { abort } of open.values()) abort.abort();
    },
  };
}
