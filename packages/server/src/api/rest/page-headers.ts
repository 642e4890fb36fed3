// Headers of a WebSocket that a page opens. A browser lets a page set only the list of protocols, so the token is one of
// them; the address would end up in logs and histories. Without authentication the user is in the query.

import type { IncomingMessage } from "node:http";
import { bearerFromProtocols, offeredProtocols } from "@lattice/wire";
import type { Headers } from "../../base/auth/principal.ts";
import { USER_HEADER } from "../../base/auth/stated.ts";
import { headersOf } from "./proxy/from.ts";

/** Real headers take precedence. */
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
  /** Replaces the token. It is verified at the next check. */
  setToken(token: string): void;
}

/** For a connection that outlives its first token. */
export function renewable(first: Headers): RenewableHeaders {
  let current: string | null = null;
  const value = (name: string) => (name === "authorization" && current !== null ? `Bearer ${current}` : first(name));
  return {
    headers: Object.assign(value, { certificate: first.certificate ?? (() => null) }),
    setToken(token) {
      current = token;
    },
  };
}

const userIn = (url: string): string | undefined =>
  new URL(url, "http://localhost").searchParams.get("user") ?? undefined;
