// Web pages must not drive a cluster that believes its callers. A browser on the same machine can
// reach a loopback port, so without authentication a page from elsewhere is turned away: by its
// Origin, and, where a name was made to point here (DNS rebinding), by its Host.

import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { hostname } from "node:os";
import { ProblemError } from "@lattice/wire";
import type { FastifyInstance } from "fastify";
import { isLoopback } from "../../config/listen.ts";
import type { Door } from "../invoke.ts";

export function addOriginCheck(app: FastifyInstance, { config }: Door): void {
  const local = isLoopback(config.api.restListen.host);
  // Nearly every request names the same host.
  let known = "";
  app.addHook("onRequest", (request, _reply, done) => {
    const { host = "" } = request.headers;
    const refusal = host === known && request.headers.origin === undefined ? null : foreignOf(request.headers, local);
    if (refusal !== null) return done(refusal);
    known = host;
    done();
  });
}

/** Null: the request comes from here. Also asked for WebSockets, which no hook sees. */
export function foreignOf(headers: IncomingHttpHeaders, local: boolean): ProblemError | null {
  const { origin, host = "" } = headers;
  if (origin !== undefined && !sameHost(origin, host)) return foreign(`pages of ${origin}`);
  return local && !isOwnName(host) ? foreign(`requests for the host ${host}`) : null;
}

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

const foreign = (what: string): ProblemError =>
  new ProblemError("forbidden", {
    detail: `This server does not answer ${what.slice(0, 200)}.`,
    hint: "Without authentication only local programs and the server's own pages are answered.",
  });
