// Closes a connection after its final response. A client may keep its half open and continue to send, so it is
// disconnected after a short time.

import type { Duplex } from "node:stream";

/** Time for the response to arrive: closing a connection with unread bytes may discard it. */
const LINGER_MS = 2_000;

export function lingerAtMost(socket: Duplex, withinMs = LINGER_MS): void {
  socket.once("finish", () => {
    const timer = setTimeout(() => socket.destroy(), withinMs);
    timer.unref();
    socket.once("close", () => clearTimeout(timer));
  });
}
