// Web pages must not drive a cluster that believes its callers. A browser on the same machine can
// reach a loopback port, so without authentication a page from elsewhere is turned away: by its
// Origin, and, where a name was made to point here (DNS rebinding), by its Host. With authentication the
// configuration may name origins whose pages are answered.

import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { hostname } from "node:os";
import { ProblemError } from "@lattice/wire";
import type { FastifyInstance } from "fastify";
import type { Config } from "../../base/config/index.ts";
import { isLoopback } from "../../base/config/index.ts";
import type { ApiContext } from "../invoke.ts";
import { allowOrigin, answerPreflight } from "./cross-origin.ts";

export function addOriginCheck(app: FastifyInstance, { config }: ApiContext): void {
  const { allowedOrigins } = config.api;
  // Nearly every request names the same host.
  let known = "";
  app.addHook("onRequest", (request, reply, done) => {
    const { host = "", origin } = request.headers;
    const refusal = host === known && origin === undefined ? null : foreignOf(request.headers, config.api);
    if (refusal !== null) return done(refusal);
    known = host;
    if (origin === undefined || !allowedOrigins.includes(origin)) return done();
    allowOrigin(reply.raw, origin);
    if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined) return done();
    reply.hijack();
    answerPreflight(reply.raw);
  });
}

type OriginRules = Pick<Config["api"], "allowedOrigins" | "restListen" | "auth">;

/** Returns `null` for an allowed origin. Also used for WebSockets, which bypass the hooks. */
export function foreignOf(headers: IncomingHttpHeaders, api: OriginRules): ProblemError | null {
  const { origin, host = "" } = headers;
  if (origin !== undefined && !sameHost(origin, host) && !api.allowedOrigins.includes(origin)) {
    return foreign(`pages of ${origin}`, api.auth.kind === "none" ? LOCAL_ONLY : NOT_NAMED);
  }
  const local = isLoopback(api.restListen.host);
  return local && !isOwnName(host) ? foreign(`requests for the host ${host}`, LOCAL_ONLY) : null;
}

const LOCAL_ONLY = "Without authentication only local programs and the server's own pages are answered.";
const NOT_NAMED = "Pages of other addresses are answered when api.allowed_origins names them.";

function sameHost(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host;
}

/** A name without a dot cannot be registered by a stranger. */
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
