// Ends kept connections without losing a request: a connection that is closed while a request is on its way leaves that
// request without an answer. For a short time every response says that its connection ends, and only connections that
// carry no request in that time are closed by the server.

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** Longer than the pause between two requests of a busy client. */
const DRAIN_MS = 500;
const LOOK_MS = 20;

/** Returns a function that resolves when all connections have ended, or after `DRAIN_MS`. */
export function drainable(server: Pick<Server, "prependListener" | "getConnections">): () => Promise<void> {
  const unanswered = new Set<ServerResponse>();
  let isDraining = false;
  const last = (response: ServerResponse): void => {
    if (!response.headersSent) response.setHeader("connection", "close");
  };
  // Before the handler of the request, which may answer at once.
  server.prependListener("request", (_: IncomingMessage, response: ServerResponse) => {
    if (isDraining) return last(response);
    unanswered.add(response);
    response.once("close", () => unanswered.delete(response));
  });
  return async () => {
    isDraining = true;
    for (const response of unanswered) last(response);
    for (let waited = 0; waited < DRAIN_MS && (await connectionsOf(server)) > 0; waited += LOOK_MS)
      await sleep(LOOK_MS);
  };
}

const connectionsOf = (server: Pick<Server, "getConnections">): Promise<number> =>
  new Promise((resolve) => server.getConnections((error, count) => resolve(error === null ? count : 0)));
