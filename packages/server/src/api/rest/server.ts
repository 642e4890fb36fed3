// The REST listener. Fastify carries it with everything it need not do switched off: no request
// log, no schema compiler, one hook.

import type { Server as SecureServer } from "node:https";
import type { Socket } from "node:net";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import type { ListenAddress } from "../../base/config/index.ts";
import { HANDSHAKE_TIMEOUT_MS } from "../../base/tls/grpc.ts";
import type { TlsSource } from "../../base/tls/source.ts";
import type { ApiContext } from "../invoke.ts";
import {
  CONNECTIONS_CHECK_MS,
  KEEP_ALIVE_MS,
  MAX_BODY_BYTES,
  MAX_CONNECTIONS,
  MAX_HEADER_BYTES,
  MAX_PARAM_LENGTH,
} from "../limits/limits.ts";
import { refusedEarly } from "../refused-early.ts";
import { readBody } from "./body.ts";
import { fromOf, headersOf } from "./from.ts";
import { addNotFound } from "./not-found.ts";
import { addOriginCheck } from "./origin.ts";
import { addPages } from "./pages.ts";
import { answerUnreadable, problemOfError, sendProblem } from "./problems.ts";
import { addProxy } from "./proxy/http.ts";
import { addRoutes } from "./routes.ts";
import { serveTerminals } from "./terminals.ts";

export interface Listener {
  readonly port: number;
  /** Stops accepting and resolves when the requests under way are answered, or after the deadline. */
  close(deadlineMs: number): Promise<void>;
}

export interface RestListener extends Listener {
  /** Serves a connection that came to another port, after its handshake. */
  accept(socket: Socket): void;
}

export async function startRest(
  door: ApiContext,
  address: ListenAddress,
  tls: TlsSource | null,
): Promise<RestListener> {
  const app = createApp(door, tls);
  await app.listen({ host: address.host, port: address.port });
  app.server.headersTimeout = door.config.api.headersTimeout;
  app.server.maxConnections = MAX_CONNECTIONS;
  const terminals = serveTerminals(app.server, door);
  const bound = app.server.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : address.port,
    accept: (socket) => void app.server.emit(tls === null ? "connection" : "secureConnection", socket),
    async close(deadlineMs) {
      const timer = setTimeout(() => app.server.closeAllConnections(), deadlineMs);
      terminals.close();
      try {
        await app.close();
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

export function createApp(door: ApiContext, tls: TlsSource | null = null): FastifyInstance {
  const { headersTimeout, requestTimeout } = door.config.api;
  const limits = {
    connectionsCheckingInterval: Math.min(CONNECTIONS_CHECK_MS, headersTimeout / 2, requestTimeout / 2),
    handshakeTimeout: Math.min(HANDSHAKE_TIMEOUT_MS, headersTimeout),
    maxHeaderSize: MAX_HEADER_BYTES,
  };
  const carrier = tls === null ? { http: limits } : { https: { ...limits, ...ownOf(tls) } };
  const app = fastify({
    ...carrier,
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: door.config.api.requestTimeout,
    forceCloseConnections: "idle",
    exposeHeadRoutes: false,
    // A request that comes during the stop is answered with the same problem as everywhere.
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, ignoreTrailingSlash: true },
    frameworkErrors: (error, request, reply) => void refuse(door, error, request, reply),
    clientErrorHandler: (error, socket) => answerUnreadable(door, error, socket),
  });
  tls?.onChange(() => (app.server as unknown as SecureServer).setSecureContext(ownOf(tls)));
  // Every type comes here: what is neither JSON nor YAML is refused by name.
  app.removeAllContentTypeParsers();
  // JSON is named besides, because Fastify remembers the parser of a named type only.
  app.addContentTypeParser(["application/json", "*"], { parseAs: "buffer" }, parse);
  app.setErrorHandler((error, request, reply) => refuse(door, error, request, reply));
  addOriginCheck(app, door);
  addRoutes(app, door);
  addProxy(app, door);
  addNotFound(app, door, addPages(app, door));
  return app;
}

function refuse(door: ApiContext, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const what = problemOfError(error, door.logger);
  void refusedEarly(door, { error, code: what.code, from: fromOf(request), headers: headersOf(request.raw) });
  return sendProblem(reply, what);
}

/** Where there is an authority, programs may show a certificate; who shows none, or a wrong one, needs a token. */
function ownOf(tls: TlsSource) {
  const { cert, key, ca } = tls.current();
  return { cert, key, ...(ca === null ? {} : { ca, requestCert: true, rejectUnauthorized: false }) };
}

const parse = async (request: FastifyRequest, bytes: Buffer) => readBody(request.headers["content-type"], bytes);
