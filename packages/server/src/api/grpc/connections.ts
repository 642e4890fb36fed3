// What one connection, and all of them together, may take. The library lets a server be bounded by streams; for the number of
// connections, nor one for connections that never speak the protocol, so its own listeners are found here.

import type { Http2Server, Http2Session } from "node:http2";
import type { Server } from "@grpc/grpc-js";
import { MAX_CONNECTIONS } from "../limits/limits.ts";

export interface Connections {
  /** Ends all that are open, whatever is under way on them: the library forgets those when it is forced to stop. */
  destroy(): void;
}

/** For listeners that are bound already. */
export function boundConnections(server: Server, greetWithinMs: number): Connections {
  const open = new Set<Http2Session>();
  for (const listener of listenersOf(server)) {
    listener.maxConnections = MAX_CONNECTIONS;
    listener.on("session", (session) => {
      open.add(session);
      session.once("close", () => open.delete(session));
      expectGreeting(session, greetWithinMs);
    });
  }
  return {
    destroy() {
      for (const session of open) session.destroy();
    },
  };
}

/** An HTTP/2 client sends its settings first. */
function expectGreeting(session: Http2Session, withinMs: number): void {
  const timer = setTimeout(() => session.destroy(), withinMs);
  timer.unref();
  const done = (): void => clearTimeout(timer);
  session.once("remoteSettings", done);
  session.once("close", done);
}

export function listenersOf(server: Server): readonly Http2Server[] {
  const { http2Servers } = server as unknown as { readonly http2Servers?: ReadonlyMap<Http2Server, unknown> };
  // Better no server than one without bounds.
  if (http2Servers === undefined || http2Servers.size === 0)
    throw new Error("the gRPC library has no listeners that could be bounded: it is of another version");
  return [...http2Servers.keys()];
}
