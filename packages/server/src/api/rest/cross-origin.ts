// What a browser wants to hear before it lets a page from elsewhere read an answer. Tokens travel in a header that
// the page gives itself, never in cookies, so credentials of the browser are not asked for.

import type { ServerResponse } from "node:http";

const METHODS = "GET, POST, PUT, PATCH, DELETE";
/** What the clients send beyond what browsers allow anyway. */
const HEADERS =
  "authorization, content-type, last-event-id, x-lattice-consistent, x-lattice-min-index, x-lattice-tenant";
const READABLE = "retry-after, x-lattice-log-index, x-lattice-stale";
/** Seconds that a browser remembers the answer for. */
const REMEMBERED = "600";

/** Set on the response itself: streams and proxied answers write their own heads. */
export function allowOrigin(response: ServerResponse, origin: string): void {
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-expose-headers", READABLE);
  response.setHeader("vary", "origin");
}

/** The question before the request, which carries no token. */
export function answerPreflight(response: ServerResponse): void {
  response.setHeader("access-control-allow-methods", METHODS);
  response.setHeader("access-control-allow-headers", HEADERS);
  response.setHeader("access-control-max-age", REMEMBERED);
  response.writeHead(204).end();
}
