// Web pages must not control a cluster without authentication. A browser can reach a loopback port, so requests of

import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { isIP } from "node:net";
import { hostname } from "node:os";
import { ProblemError } from "@lattice/wire";
import type { FastifyInstance } from "fastify";
import { type Config, isLoopback } from "../../base/config/index.ts";
import type { ApiContext } from "../invoke/invoke.ts";

// foreign pages are refused by their Origin, and by their Host in case of DNS rebinding. With authentication the
// configuration may allow origins.

export function addOriginCheck(app: FastifyInstance, { config }: ApiContext): void {
  const { allowedOrigins } = config.api;
  // Nearly every request has the same host, so the last accepted one is cached.
  let accepted = "";
  app.addHook("onRequest", (request, reply, done) => {
    const { host = "", origin } = request.headers;
    const refusal = host === accepted && origin === undefined ? null : refuseOrigin(request.headers, config.api);
    if (refusal !== null) return done(refusal);
    accepted = host;
    if (origin === undefined || !allowedOrigins.includes(origin)) return done();
    allowOrigin(reply.raw, origin);
    if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined) return done();
    reply.hijack();
    answerPreflight(reply.raw);
  });
}

type OriginRules = Pick<Config["api"], "allowedOrigins" | "restListen" | "auth">;

/** Returns `null` for an allowed origin. Also used for WebSockets, which bypass the hooks. */
export function refuseOrigin(headers: IncomingHttpHeaders, api: OriginRules): ProblemError | null {
  const { origin, host = "" } = headers;
  if (origin !== undefined && !sameHost(origin, host) && !api.allowedOrigins.includes(origin)) {
    return foreign(`pages of ${origin}`, api.auth.kind === "none" ? LOCAL_ONLY : NOT_ALLOWED);
  }
  const local = isLoopback(api.restListen.host);
  return local && !isOwnName(host) ? foreign(`requests for the host ${host}`, LOCAL_ONLY) : null;
}

const LOCAL_ONLY = "Without authentication, only local programs and the server's own pages may call it.";
const NOT_ALLOWED = "Add the origin to api.allowed_origins.";

function sameHost(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host;
}

/** An attacker cannot register a name without a dot. */
export function isOwnName(host: string): boolean {
  const name = host
    .replace(/:[0-9]+$/, "")
    .replace(/^\[|\]$/g, "")
    .toLowerCase();
  if (isIP(name) !== 0 || !name.includes(".") || name.endsWith(".localhost")) return true;
  return name === hostname().toLowerCase();
}

const foreign = (what: string, hint: string): ProblemError =>
  new ProblemError("forbidden", { detail: `This server does not answer ${what.slice(0, 200)}.`, hint });

// credentials are not requested.

const METHODS = "GET, POST, PUT, PATCH, DELETE";
/** Request headers that are not on the CORS safelist. */
const HEADERS =
  "authorization, content-type, last-event-id, x-lattice-cluster, x-lattice-consistent, x-lattice-min-index, x-lattice-tenant";
const READABLE = "retry-after, x-lattice-cluster, x-lattice-log-index, x-lattice-stale";
/** Seconds for which a browser caches the preflight. */
const MAX_AGE_SECONDS = "600";

/** Sets the raw response, because streams and proxied answers write their own headers. */
function allowOrigin(response: ServerResponse, origin: string): void {
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-expose-headers", READABLE);
  response.setHeader("vary", "origin");
}

/** Answers a preflight request, which carries no token. */
function answerPreflight(response: ServerResponse): void {
  response.setHeader("access-control-allow-methods", METHODS);
  response.setHeader("access-control-allow-headers", HEADERS);
  response.setHeader("access-control-max-age", MAX_AGE_SECONDS);
  response.writeHead(204).end();
}
