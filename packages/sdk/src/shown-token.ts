// A terminal cannot be opened again where it was, so a token that is renewed is shown within the connection before the first one ends.
// The server looks at the newest one whenever it looks again.

import type { OpenedWebSocket } from "./call.ts";

/** Often enough for sources that renew a token ten seconds before its end. */
const ASK_EVERY_MS = 5_000;

export function keepShown({ connection, token, newer }: OpenedWebSocket, everyMs: number = ASK_EVERY_MS): void {
  if (newer === null || token === undefined) return;
  let shown: string | undefined = token;
  const show = async () => {
    const now = await newer();
    if (now === undefined || now === shown) return;
    shown = now;
    await connection.sendText(JSON.stringify({ token: now }));
  };
  // One that cannot be had now may be had the next time; the server has the last word.
  const timer = setInterval(() => void show().catch(() => undefined), everyMs);
  const stop = () => clearInterval(timer);
  connection.closed.then(stop, stop);
}
