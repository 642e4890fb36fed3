// Errors as application/problem+json: errors of handlers, of Fastify before a handler runs, and of Node's HTTP parser,
// so that clients see one format.

import type { Socket } from "node:net";
import { PROBLEM_MEDIA_TYPE, type Problem, ProblemError, problem, problemToJson } from "@lattice/wire";
import type { FastifyReply } from "fastify";
import type { Logger } from "../../base/observe/index.ts";
import { logEarlyRefusal } from "../invoke/early-refusal.ts";
import type { ApiContext } from "../invoke/invoke.ts";
import { MAX_BODY_BYTES, MAX_HEADER_BYTES } from "../limits/limits.ts";
import { lingerAtMost } from "./linger.ts";

/** The default Retry-After, in seconds. */
const RETRY_AFTER_S = 1;

/** Returns the Retry-After header, or `null` when the problem has none. */
export const retryAfterOf = ({ status, retryAfterSeconds }: Problem): number | null =>
  retryAfterSeconds ?? (status === 429 || status === 503 ? RETRY_AFTER_S : null);

/** The challenge for a caller without a valid token (RFC 6750). */
export const CHALLENGE = 'Bearer realm="lattice"';

export function sendProblem(reply: FastifyReply, what: Problem): FastifyReply {
  reply.code(what.status).header("content-type", PROBLEM_MEDIA_TYPE);
  if (what.status === 401) reply.header("www-authenticate", CHALLENGE);
  if (what.status === 426) reply.header("upgrade", "websocket").header("connection", "upgrade");
  const seconds = retryAfterOf(what);
  if (seconds !== null) reply.header("retry-after", String(seconds));
  // The unread rest of the body would be parsed as the next request.
  if (what.status === 413) reply.header("connection", "close");
  // As bytes: for a string Fastify would add a charset, which this media type does not have.
  return reply.send(Buffer.from(JSON.stringify(problemToJson(what))));
}

/** Converts an error of a handler or of Fastify to a problem. */
export function problemOfError(error: unknown, logger: Logger): Problem {
  if (error instanceof ProblemError) return error.problem;
  const { code = "", statusCode = 500 } = error as { code?: string; statusCode?: number };
  const known = FASTIFY[code];
  if (known !== undefined) return known();
  const detail = error instanceof Error ? error.message : "The request cannot be read.";
  if (statusCode >= 400 && statusCode < 500) return problem("malformed_body", { detail });
  logger.error({ err: error }, "REST request failed");
  return problem("internal");
}

const tooLarge = (): Problem =>
  problem("body_too_large", { detail: `The body is larger than ${MAX_BODY_BYTES} bytes.` });

const FASTIFY: Readonly<Record<string, () => Problem>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: tooLarge,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => problem("unsupported_media_type"),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    problem("malformed_body", { detail: "The length of the body differs from Content-Length." }),
  FST_ERR_BAD_URL: () => problem("not_found", { detail: "The path is not well formed." }),
  FST_ERR_MAX_PARAM_LENGTH: () => problem("not_found", { detail: "A part of the path is too long to name anything." }),
};

function unreadable(code: string): Problem {
  if (code === "HPE_HEADER_OVERFLOW")
    return problem("headers_too_large", { detail: `The headers are larger than ${MAX_HEADER_BYTES} bytes.` });
  if (code === "ERR_HTTP_REQUEST_TIMEOUT" || code === "ERR_TLS_HANDSHAKE_TIMEOUT")
    return problem("deadline_exceeded", { detail: "The request did not arrive in time." });
  return problem("malformed_body", { detail: "The request is not well-formed HTTP." });
}

/** For connections on which no request could be read at all. */
export function answerUnreadable(api: ApiContext, error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const what = unreadable(error.code ?? "");
  const from = { interface: "rest", remote: socket.remoteAddress ?? "" } as const;
  void logEarlyRefusal(api, { error, code: what.code, from, headers: null });
  // Nothing can be sent before the end of the TLS handshake, and `end` would wait for it.
  if ((socket as { readonly secureConnecting?: boolean }).secureConnecting === true) return void socket.destroy();
  lingerAtMost(socket);
  const body = JSON.stringify(problemToJson(what));
  socket.end(
    `HTTP/1.1 ${what.status} Refused\r\nconnection: close\r\ncontent-type: ${PROBLEM_MEDIA_TYPE}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
