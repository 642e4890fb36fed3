// The origin of an HTTP request for the access log, and its headers by name.

import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import type { Headers } from "../../../base/auth/principal.ts";
import type { From } from "../../../base/observe/access-log.ts";
import { certificateOn } from "../../../base/tls/shown.ts";

export const fromOf = (request: FastifyRequest): From => ({
  interface: "rest",
  method: request.method,
  path: request.url,
  remote: request.ip,
});

/** For a connection that is upgraded. */
export const fromUpgrade = (request: IncomingMessage, kind: From["interface"] = "websocket"): From => ({
  interface: kind,
  method: request.method ?? "GET",
  path: request.url ?? "/",
  remote: request.socket.remoteAddress ?? "",
});

export const headersOf = ({ headers, socket }: Pick<IncomingMessage, "headers" | "socket">): Headers =>
  Object.assign((name: string) => headerValue(headers, name), { certificate: () => certificateOn(socket) });

function headerValue(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : value?.[0];
}
