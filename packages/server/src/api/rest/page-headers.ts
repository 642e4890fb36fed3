// What a page shows when it opens a WebSocket. A browser lets it set no headers but one, the list of protocols that it speaks: the token
// comes as one of these, since addresses end up in logs and histories. In a cluster without authentication the user is in the query.

import type { IncomingMessage } from "node:http";
import { bearerFromProtocols, offeredProtocols } from "@lattice/wire";
import type { Headers } from "../../base/auth/principal.ts";
import { USER_HEADER } from "../../base/auth/stated.ts";
import { headersOf } from "./from.ts";

/** Headers come first where there are any. */
export function pageHeaders(request: IncomingMessage): Headers {
  const shown = headersOf(request);
  const protocols = offeredProtocols(shown("sec-websocket-protocol"));
  return Object.assign((name: string) => shown(name) ?? stated(name), {
    certificate: shown.certificate ?? (() => null),
  });

  function stated(name: string): string | undefined {
    if (name === USER_HEADER) return userIn(request.url ?? "/");
    const token = name === "authorization" ? bearerFromProtocols(protocols) : null;
    return token === null ? undefined : `Bearer ${token}`;
  }
}

export interface RenewableHeaders {
  readonly headers: Headers;
  /** This token counts from now on; whether it is any good is found when it is looked at. */
  show(token: string): void;
}

/** Of a connection that outlives tokens. */
export function renewable(first: Headers): RenewableHeaders {
  let shown: string | null = null;
  const value = (name: string) => (name === "authorization" && shown !== null ? `Bearer ${shown}` : first(name));
  return {
    headers: Object.assign(value, { certificate: first.certificate ?? (() => null) }),
    show(token) {
      shown = token;
    },
  };
}

const userIn = (url: string): string | undefined =>
  new URL(url, "http://localhost").searchParams.get("user") ?? undefined;
