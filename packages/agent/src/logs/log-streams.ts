// The open log streams of this node, by the server's stream id: opened and closed by order, bounded in number, and
// closed with the agent.

import type { Client } from "@grpc/grpc-js";
import { type LogRequest, sendBusy, sendLogs } from "./send.ts";

/** Each costs about a megabyte when the server is slow. */
const MAX_LOG_STREAMS = 64;

export interface LogStreams {
  open(client: Client, request: LogRequest): void;
  close(streamId: string): void;
  readonly count: number;
  closeAll(): void;
}

export function logStreams(): LogStreams {
  const open = new Map<string, AbortController>();
  return {
    open(client, request) {
      if (open.has(request.streamId)) return;
      const full = open.size >= MAX_LOG_STREAMS;
      const abort = new AbortController();
      open.set(request.streamId, abort);
      const ended = full ? sendBusy(client, request.streamId) : sendLogs(client, request, abort.signal);
      void ended.finally(() => open.delete(request.streamId));
    },
    close(streamId) {
      open.get(streamId)?.abort();
    },
    get count() {
      return open.size;
    },
    closeAll() {
      for (const abort of open.values()) abort.abort();
    },
  };
}
