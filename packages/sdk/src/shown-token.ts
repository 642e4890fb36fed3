// Sends renewed tokens within an open connection, because a terminal cannot be reopened where it was. The server
// checks the newest token at each of its periodic checks.

import type { OpenedWebSocket } from "./call.ts";

/** Token sources renew a token at least ten seconds before it expires. */
const CHECK_INTERVAL_MS = 5_000;

export function keepShown({ connection, token, newer }: OpenedWebSocket, everyMs: number = CHECK_INTERVAL_MS): void {
  if (newer === null || token === undefined) return;
  let shown: string | undefined = token;
  const show = async () => {
    const now = await newer();
    if (now === undefined || now === shown) return;
    shown = now;
    await connection.sendText(JSON.stringify({ token: now }));
  };
  // A failed renewal is retried at the next interval; the server ends the connection if the token expires.
  const timer = setInterval(() => void show().catch(() => undefined), everyMs);
  const stop = () => clearInterval(timer);
  connection.closed.then(stop, stop);
}
