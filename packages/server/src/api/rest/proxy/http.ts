// Services over HTTP: /api/v1/services/NAME/proxy/anything goes to one of the service's endpoints, with its body in
// both directions as it comes. A request without a body whose endpoint cannot be reached is tried on the next.

import { type IncomingMessage, request as openRequest, type ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { ServiceEndpoint } from "@lattice/core";
import { ProblemError, problemOf } from "@lattice/wire";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { PROXY_NAME } from "../../access/rules.ts";
import type { Door } from "../../invoke.ts";
import { PROXY_CONNECT_MS, PROXY_ENDPOINT_TRIES } from "../../limits/limits.ts";
import { type Passing, towardsCaller, towardsService } from "./headers.ts";
import { type Place, placeOf } from "./place.ts";
import { targetOf } from "./target.ts";

export function addProxy(app: FastifyInstance, door: Door): void {
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

async function serve(door: Door, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const started = performance.now();
  const place = placeOf(request.url);
  let code = "ok";
  try {
    if (place === null) throw new ProblemError("not_found", { detail: "The path is not well formed." });
    await forward(door, place, request, reply);
  } catch (error) {
    code = problemOf(error).code;
    if (!reply.raw.headersSent) throw error;
    reply.raw.destroy();
  } finally {
    door.metrics.apiRequest(PROXY_NAME, code, (performance.now() - started) / 1_000);
  }
}

async function forward(door: Door, place: Place, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const headerOf = (name: string): string | undefined => {
    const value = request.headers[name];
    return typeof value === "string" ? value : value?.[0];
  };
  const { user, endpoints } = await targetOf(door, headerOf, place.name);
  const about = { user, prefix: place.prefix, host: headerOf("host") ?? "", remote: request.ip };
  const incoming = request.raw;
  const hasBody =
    incoming.headers["content-length"] !== undefined || incoming.headers["transfer-encoding"] !== undefined;
  const tried = endpoints.slice(0, PROXY_ENDPOINT_TRIES);
  for (const [n, endpoint] of tried.entries()) {
    const passing: Passing = { ...about, endpoint };
    const answer = await ask(incoming, place.path, passing, hasBody).catch((error: unknown) => {
      // What was sent of a body cannot be sent again.
      if (n === tried.length - 1 || (hasBody && incoming.readableDidRead)) throw unreachable(endpoint, error);
      return null;
    });
    if (answer === null) continue;
    reply.hijack();
    return pass(answer, reply.raw, passing);
  }
}

/** Resolves with the beginning of the answer. */
function ask(incoming: IncomingMessage, path: string, passing: Passing, hasBody: boolean): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { address, port } = passing.endpoint;
    const outgoing = openRequest({
      host: address,
      port,
      path,
      method: incoming.method,
      headers: towardsService(incoming.headers, passing),
      agent: false,
    });
    const timer = setTimeout(() => outgoing.destroy(new Error("no connection")), PROXY_CONNECT_MS);
    outgoing.once("socket", (socket) => {
      if (!socket.connecting) clearTimeout(timer);
      socket.once("connect", () => clearTimeout(timer));
    });
    outgoing.once("response", resolve);
    outgoing.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    // Whoever asked has gone: the service need not go on.
    incoming.socket.once("close", () => outgoing.destroy());
    if (!hasBody) outgoing.end();
    // Not before there is a connection: another endpoint may have to take it.
    else outgoing.once("socket", (socket) => (socket.connecting ? socket.once("connect", send) : send()));
    const send = (): void => void incoming.pipe(outgoing);
  });
}

async function pass(answer: IncomingMessage, to: ServerResponse, passing: Passing): Promise<void> {
  to.writeHead(answer.statusCode ?? 502, towardsCaller(answer.headers, passing));
  to.flushHeaders();
  // A caller that leaves early is no failure.
  await pipeline(answer, to).catch(() => to.destroy());
}

export function unreachable({ node, port }: ServiceEndpoint, cause: unknown): ProblemError {
  const why = cause instanceof Error && "code" in cause ? String(cause.code) : "no connection";
  return new ProblemError("node_unreachable", {
    detail: `The service on node ${node}, port ${port}, does not answer (${why}).`,
    hint: "Look at the allocation's log: it may still be starting, or listen on another address.",
  });
}
