// The REST listener: Fastify without request log and schema compiler, and with one hook.

import type { Server as SecureServer } from "node:https";
import type { Socket } from "node:net";
import { type Json, ProblemError, parseBody } from "@lattice/wire";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import type { ListenAddress } from "../../base/config/index.ts";
import { HANDSHAKE_TIMEOUT_MS } from "../../base/tls/grpc.ts";
import type { TlsSource } from "../../base/tls/source.ts";
import { logEarlyRefusal } from "../invoke/early-refusal.ts";
import type { ApiContext } from "../invoke/invoke.ts";
import {
  CONNECTIONS_CHECK_MS,
  KEEP_ALIVE_MS,
  MAX_BODY_BYTES,
  MAX_CONNECTIONS,
  MAX_HEADER_BYTES,
  MAX_PARAM_LENGTH,
} from "../limits/limits.ts";
import { drainable } from "./drain.ts";
import { addNotFound } from "./not-found.ts";
import { addOriginCheck } from "./origin.ts";
import { addPages } from "./pages.ts";
import { answerUnreadable, problemOfError, sendProblem } from "./problems.ts";
import { fromOf, headersOf } from "./proxy/from.ts";
import { addProxy } from "./proxy/http.ts";
import { addRoutes } from "./routes.ts";
import { serveTerminals } from "./terminals.ts";

interface RestListener {
  readonly port: number;
  /** Stops accepting and resolves when the running requests are answered, or after the deadline. */
  close(deadlineMs: number): Promise<void>;
  /** Serves a connection that came to another port, after its handshake. */
  accept(socket: Socket): void;
}

export async function startRest(api: ApiContext, address: ListenAddress, tls: TlsSource | null): Promise<RestListener> {
  const app = createApp(api, tls);
  await app.listen({ host: address.host, port: address.port });
  app.server.headersTimeout = api.config.api.headersTimeout;
  app.server.maxConnections = MAX_CONNECTIONS;
  const terminals = serveTerminals(app.server, api);
  const drain = drainable(app.server);
  const bound = app.server.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : address.port,
    accept: (socket) => void app.server.emit(tls === null ? "connection" : "secureConnection", socket),
    async close(deadlineMs) {
      const timer = setTimeout(() => app.server.closeAllConnections(), deadlineMs);
      terminals.close();
      try {
        await drain();
        await app.close();
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

export function createApp(api: ApiContext, tls: TlsSource | null = null): FastifyInstance {
  const { headersTimeout, requestTimeout } = api.config.api;
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
    requestTimeout: api.config.api.requestTimeout,
    forceCloseConnections: "idle",
    exposeHeadRoutes: false,
    // A request during the stop gets the same problem as over gRPC.
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, ignoreTrailingSlash: true },
    frameworkErrors: (error, request, reply) => void refuse(api, error, request, reply),
    clientErrorHandler: (error, socket) => answerUnreadable(api, error, socket),
  });
  tls?.onChange(() => (app.server as unknown as SecureServer).setSecureContext(ownOf(tls)));
  // All content types are parsed here; types other than JSON and YAML are refused.
  app.removeAllContentTypeParsers();
  // JSON is named explicitly, because Fastify caches the parser of named types only.
  app.addContentTypeParser(["application/json", "*"], { parseAs: "buffer" }, parse);
  app.setErrorHandler((error, request, reply) => refuse(api, error, request, reply));
  addOriginCheck(app, api);
  addRoutes(app, api);
  addProxy(app, api);
  addNotFound(app, api, addPages(app, api));
  return app;
}

function refuse(api: ApiContext, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const what = problemOfError(error, api.logger);
  void logEarlyRefusal(api, { error, code: what.code, from: fromOf(request), headers: headersOf(request.raw) });
  return sendProblem(reply, what);
}

/** With an authority, programs may present a certificate; without a valid one they need a token. */
function ownOf(tls: TlsSource) {
  const { cert, key, ca } = tls.current();
  return { cert, key, ...(ca === null ? {} : { ca, requestCert: true, rejectUnauthorized: false }) };
}

const parse = async (request: FastifyRequest, bytes: Buffer) => readBody(request.headers["content-type"], bytes);

// `curl -d`, JSON is tried first and YAML second.

const UNDECLARED = new Set(["", "application/x-www-form-urlencoded"]);

async function readBody(contentType: string | undefined, bytes: Buffer): Promise<Json | undefined> {
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (!UNDECLARED.has(type)) return parseBody(contentType, bytes);
  try {
    return await parseBody("application/json", bytes);
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.code !== "malformed_body") throw error;
    // A body that looks like JSON gets the errors of the JSON parser.
    return parseBody("application/yaml", bytes).catch((asYaml: unknown) => {
      throw looksLikeJson(bytes) ? error : asYaml;
    });
  }
}

const SPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);

function looksLikeJson(bytes: Buffer): boolean {
  const first = bytes.find((byte) => !SPACE.has(byte));
  return first === 0x7b || first === 0x5b;
}
