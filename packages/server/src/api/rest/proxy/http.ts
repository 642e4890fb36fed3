// The proxy to services over HTTP: /api/v1/services/NAME/proxy/... goes to one of the endpoints of the service, with
// streamed bodies. A request without a body is tried on the next endpoint when one cannot be reached. A long answer ends
// when the caller loses its access.

import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { ServiceEndpoint } from "@lattice/core";
import { ProblemError } from "@lattice/wire";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { watchToken } from "../../../base/auth/watch-token.ts";
import { PROXY_NAME } from "../../access/rules.ts";
import { type RequestLog, startRequestLog } from "../../call/request-log.ts";
import type { ApiContext } from "../../invoke/invoke.ts";
import { PROXY_ENDPOINT_TRIES } from "../../limits/limits.ts";
import { ask } from "./ask.ts";
import { fromOf, headersOf } from "./from.ts";
import { type ProxiedRequest, towardsCaller } from "./headers.ts";
import { type ProxyPath, parseProxyPath } from "./path.ts";
import { reachableAddress } from "./reach.ts";
import { openTarget, type ProxyTarget } from "./target.ts";

export function addProxy(app: FastifyInstance, api: ApiContext): void {
  // A separate scope, because bodies are not parsed here.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, payload, done) => done(null, payload));
    for (const base of ["/api/v1", "/v1"]) {
      for (const rest of ["", "/*"]) {
        scope.all(`${base}/services/:name/proxy${rest}`, (request, reply) => serve(api, request, reply));
      }
    }
  });
}

async function serve(api: ApiContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const proxyPath = parseProxyPath(request.url);
  const requestLog = startRequestLog(
    PROXY_NAME,
    { from: { ...fromOf(request), interface: "proxy" } },
    proxyPath?.name ?? "",
  );
  try {
    if (proxyPath === null) throw new ProblemError("not_found", { detail: "The path is not well formed." });
    await pass(api, proxyPath, requestLog, request, reply);
  } catch (error) {
    requestLog.recordError(error);
    if (!reply.raw.headersSent) throw error;
    reply.raw.destroy();
  } finally {
    requestLog.end(api);
  }
}

async function pass(
  api: ApiContext,
  proxyPath: ProxyPath,
  requestLog: RequestLog,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const headers = headersOf(request.raw);
  const target = await openTarget(api, headers, proxyPath.name, requestLog);
  const stop = new AbortController();
  const end = (): void => stop.abort();
  // The caller disconnected or lost its access: the service may stop.
  request.raw.socket.once("close", end);
  const watch = watchToken(api, headers, end, target.same);
  try {
    const { answer, proxied } = await tryEndpoints(api, proxyPath, target, request, stop.signal);
    reply.hijack();
    await send(answer, reply.raw, proxied, stop.signal);
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
  readonly proxied: ProxiedRequest;
}

async function tryEndpoints(
  api: ApiContext,
  proxyPath: ProxyPath,
  { user, endpoints }: ProxyTarget,
  request: FastifyRequest,
  signal: AbortSignal,
): Promise<Answered> {
  const incoming = request.raw;
  const about = { user, prefix: proxyPath.prefix, host: incoming.headers.host ?? "", remote: request.ip };
  const hasBody =
    incoming.headers["content-length"] !== undefined || incoming.headers["transfer-encoding"] !== undefined;
  const answerTimeoutMs = api.config.api.proxyAnswerTimeout;
  const tried = endpoints.slice(0, PROXY_ENDPOINT_TRIES);
  for (const [n, endpoint] of tried.entries()) {
    const proxied: ProxiedRequest = { ...about, endpoint };
    try {
      const { address: host } = await reachableAddress(api, endpoint);
      const answer = await ask({ incoming, host, path: proxyPath.path, proxied, hasBody, answerTimeoutMs, signal });
      return { answer, proxied };
    } catch (error) {
      if (error instanceof ProblemError && error.problem.code !== "node_unreachable") throw error;
      // A partly sent body cannot be sent again.
      if (n === tried.length - 1 || (hasBody && incoming.readableDidRead)) throw unreachable(endpoint, error);
    }
  }
  throw new ProblemError("unknown_service", { detail: "The service has no endpoints." });
}

async function send(
  answer: IncomingMessage,
  to: ServerResponse,
  proxied: ProxiedRequest,
  signal: AbortSignal,
): Promise<void> {
  to.writeHead(answer.statusCode ?? 502, towardsCaller(answer.headers, proxied));
  to.flushHeaders();
  // A caller that disconnects is not a failure.
  await pipeline(answer, to, { signal }).catch(() => to.destroy());
}

export function unreachable({ node, port }: ServiceEndpoint, cause: unknown): ProblemError {
  if (cause instanceof ProblemError) return cause;
  const why = cause instanceof Error && "code" in cause ? String(cause.code) : "no connection";
  return new ProblemError("node_unreachable", {
    detail: `The service on node ${node}, port ${port}, does not answer (${why}).`,
    hint: "Check the output of the allocation: it may still be starting, or listen on another address.",
  });
}
