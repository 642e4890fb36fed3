// Services over HTTP: /api/v1/services/NAME/proxy/anything goes to one of the service's endpoints, with its body in
// both directions as it comes. A request without a body whose endpoint cannot be reached is tried on the next. An answer
// that lasts ends when the caller loses its access.

import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { ServiceEndpoint } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { watchToken } from "../../../base/auth/watch-token.ts";
import { PROXY_NAME } from "../../access/rules.ts";
import type { ApiContext } from "../../invoke.ts";
import { PROXY_ENDPOINT_TRIES } from "../../limits/limits.ts";
import { type RequestLog, startRequestLog } from "../../request-log.ts";
import { fromOf, headersOf } from "../from.ts";
import { ask } from "./ask.ts";
import { type Passing, towardsCaller } from "./headers.ts";
import { type Place, placeOf } from "./place.ts";
import { openTarget, type Target } from "./target.ts";

export function addProxy(app: FastifyInstance, door: ApiContext): void {
  // A scope of its own: bodies pass through unread here.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, payload, done) => done(null, payload));
    for (const base of ["/api/v1", "/v1"]) {
      for (const rest of ["", "/*"]) {
        scope.all(`${base}/services/:name/proxy${rest}`, (request, reply) => serve(door, request, reply));
      }
    }
  });
}

async function serve(door: ApiContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const place = placeOf(request.url);
  const visit = startRequestLog(PROXY_NAME, { from: { ...fromOf(request), door: "proxy" } }, place?.name ?? "");
  try {
    if (place === null) throw new ProblemError("not_found", { detail: "The path is not well formed." });
    await pass(door, place, visit, request, reply);
  } catch (error) {
    visit.recordError(error);
    if (!reply.raw.headersSent) throw error;
    reply.raw.destroy();
  } finally {
    visit.end(door);
  }
}

async function pass(
  door: ApiContext,
  place: Place,
  visit: RequestLog,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const headers = headersOf(request.raw);
  const target = await openTarget(door, headers, place.name, visit);
  const stop = new AbortController();
  const end = (): void => stop.abort();
  // The caller disconnected or lost its access: the service may stop.
  request.raw.socket.once("close", end);
  const watch = watchToken(door, headers, end, target.same);
  try {
    const { answer, passing } = await askEach(door, place, target, request, stop.signal);
    reply.hijack();
    await send(answer, reply.raw, passing, stop.signal);
  } finally {
    request.raw.socket.removeListener("close", end);
    watch.close();
    target.leave();
  }
  const lapsed = watch.lapsed();
  if (lapsed !== null) throw lapsed;
}

interface Answered {
  readonly answer: IncomingMessage;
  readonly passing: Passing;
}

async function askEach(
  { config }: ApiContext,
  place: Place,
  { user, endpoints }: Target,
  request: FastifyRequest,
  signal: AbortSignal,
): Promise<Answered> {
  const incoming = request.raw;
  const about = { user, prefix: place.prefix, host: incoming.headers.host ?? "", remote: request.ip };
  const hasBody =
    incoming.headers["content-length"] !== undefined || incoming.headers["transfer-encoding"] !== undefined;
  const answerWithinMs = config.api.proxyAnswerTimeout;
  const tried = endpoints.slice(0, PROXY_ENDPOINT_TRIES);
  for (const [n, endpoint] of tried.entries()) {
    const passing: Passing = { ...about, endpoint };
    try {
      return { answer: await ask({ incoming, path: place.path, passing, hasBody, answerWithinMs, signal }), passing };
    } catch (error) {
      if (error instanceof ProblemError) throw error;
      // What was sent of a body cannot be sent again.
      if (n === tried.length - 1 || (hasBody && incoming.readableDidRead)) throw unreachable(endpoint, error);
    }
  }
  throw new ProblemError("unknown_service", { detail: "It is gone." });
}

async function send(answer: IncomingMessage, to: ServerResponse, passing: Passing, signal: AbortSignal): Promise<void> {
  to.writeHead(answer.statusCode ?? 502, towardsCaller(answer.headers, passing));
  to.flushHeaders();
  // A caller that leaves early is no failure.
  await pipeline(answer, to, { signal }).catch(() => to.destroy());
}

export function unreachable({ node, port }: ServiceEndpoint, cause: unknown): ProblemError {
  const why = cause instanceof Error && "code" in cause ? String(cause.code) : "no connection";
  return new ProblemError("node_unreachable", {
    detail: `The service on node ${node}, port ${port}, does not answer (${why}).`,
    hint: "Look at the allocation's log: it may still be starting, or listen on another address.",
  });
}
