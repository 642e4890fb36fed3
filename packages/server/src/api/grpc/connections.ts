// Limits of gRPC connections. The library limits streams, but neither the number of connections nor the time until a
// connection speaks the protocol, so both are set on its listeners.

import type { Http2Server, Http2Session } from "node:http2";
import type { Server } from "@grpc/grpc-js";
import { MAX_CONNECTIONS } from "../limits/limits.ts";

export interface Connections {
  /** Closes all open connections with their calls: `forceShutdown` of the library does not. */
  destroy(): void;
}

/** Call it after the listeners are bound. */
export function boundConnections(server: Server, firstBytesTimeoutMs: number): Connections {
  const open = new Set<Http2Session>();
  for (const listener of listenersOf(server)) {
    listener.maxConnections = MAX_CONNECTIONS;
    listener.on("session", (session) => {
      open.add(session);
      session.once("close", () => open.delete(session));
      requireSettings(session, firstBytesTimeoutMs);
    });
  }
  return {
    destroy() {
      for (const session of open) session.destroy();
    },
  };
}

/** An HTTP/2 client sends its settings first. */
function requireSettings(session: Http2Session, withinMs: number): void {
  const timer = setTimeout(() => session.destroy(), withinMs);
  timer.unref();
  const done = (): void => clearTimeout(timer);
  session.once("remoteSettings", done);
  session.once("close", done);
}

export function listenersOf(server: Server): readonly Http2Server[] {
  const { http2Servers } = server as unknown as { readonly http2Servers?: ReadonlyMap<Http2Server, unknown> };
  // A server without limits must not start.
  if (http2Servers === undefined || http2Servers.size === 0)
    throw new Error("cannot limit gRPC connections: this version of the gRPC library has no http2Servers");
  return [...http2Servers.keys()];
}
