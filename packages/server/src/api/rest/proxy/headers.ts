// Headers of proxied requests. The caller's token and its identity headers are removed: a workload must not be able to
// act as its caller. Answers are sandboxed, since they come from the server's address and could otherwise call the API
// as the reader of the page.

import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { ServiceEndpoint } from "@lattice/core";

/** Not forwarded by proxies (RFC 9110). */
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
const OURS = /^(authorization$|x-lattice-|x-forwarded-|forwarded$|host$)/;
const SANDBOX = "sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads";

export interface ProxiedRequest {
  readonly endpoint: ServiceEndpoint;
  readonly user: string;
  /** Where the service begins: /api/v1/services/NAME/proxy */
  readonly prefix: string;
  readonly host: string;
  readonly remote: string;
}

export function towardsService(headers: IncomingHttpHeaders, proxied: ProxiedRequest): OutgoingHttpHeaders {
  const named = namedByConnection(headers.connection);
  const kept = Object.entries(headers).filter(
    ([name]) => !HOP_BY_HOP.has(name) && !OURS.test(name) && !named.has(name),
  );
  return {
    ...Object.fromEntries(kept),
    host: `${proxied.endpoint.address}:${proxied.endpoint.port}`,
    "x-forwarded-for": proxied.remote,
    "x-forwarded-host": proxied.host,
    "x-forwarded-prefix": proxied.prefix,
    "x-forwarded-user": encodeURIComponent(proxied.user),
  };
}

export function towardsCaller(headers: IncomingHttpHeaders, proxied: ProxiedRequest): OutgoingHttpHeaders {
  const named = namedByConnection(headers.connection);
  const kept = Object.entries(headers).filter(
    ([name]) => !HOP_BY_HOP.has(name) && !named.has(name) && !name.startsWith("x-lattice-"),
  );
  const own = headers["content-security-policy"];
  return {
    ...Object.fromEntries(kept),
    ...(headers.location === undefined ? {} : { location: located(headers.location, proxied) }),
    ...(headers["set-cookie"] === undefined
      ? {}
      : { "set-cookie": headers["set-cookie"].map((cookie) => below(cookie, proxied.prefix)) }),
    // Two policies are both obeyed.
    "content-security-policy": own === undefined ? SANDBOX : `${own}, ${SANDBOX}`,
    "x-content-type-options": "nosniff",
  };
}

/** The headers of an accepted upgrade: those of its handshake. Cookies have no path here, and would reach other services. */
export const towardsUpgraded = (headers: IncomingHttpHeaders): OutgoingHttpHeaders => ({
  ...Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("sec-websocket-"))),
  connection: "Upgrade",
  upgrade: headers.upgrade ?? "websocket",
});

const namedByConnection = (connection: string | undefined): ReadonlySet<string> =>
  new Set((connection ?? "").split(",").map((name) => name.trim().toLowerCase()));

/** Adds the prefix, which the service does not know. */
function located(location: string, { prefix, endpoint }: ProxiedRequest): string {
  const origin = `http://${endpoint.address}:${endpoint.port}`;
  if (location === origin || location.startsWith(`${origin}/`)) return prefix + (location.slice(origin.length) || "/");
  return location.startsWith("/") && !location.startsWith("//") ? prefix + location : location;
}

/** Limits a cookie to the path of this service. */
function below(cookie: string, prefix: string): string {
  const [pair = "", ...attributes] = cookie.split(/;\s*/);
  const path = attributes.find((one) => /^path=/i.test(one))?.slice("path=".length) ?? "/";
  const kept = attributes.filter((one) => !/^(path|domain)=/i.test(one));
  return [pair, ...kept, `Path=${prefix}${path.startsWith("/") ? path : "/"}`].join("; ");
}
