// The end of a connection that was told its last word. This side has ended it; the other may keep its half open, and go on sending, for
// as long as it likes, so it is given a moment to hang up and is then cut off.

import type { Duplex } from "node:stream";

/** For the last word to arrive: a connection that is cut off with bytes unread may lose it. */
export const LINGER_MS = 2_000;

export function lingerAtMost(socket: Duplex, withinMs = LINGER_MS): void {
  socket.once("finish", () => {
    const timer = setTimeout(() => socket.destroy(), withinMs);
    timer.unref();
    socket.once("close", () => clearTimeout(timer));
  });
}
