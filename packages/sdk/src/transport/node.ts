// The transport for Node: `node:http` and `node:https` directly, because loading fetch takes several times as long as
// the request of a command-line program. The modules are imported on the first request. Connections are kept alive.

import type { ClientRequest, IncomingMessage } from "node:http";
import {
  type HttpRequest,
  type HttpResponse,
  type Transport,
  TransportError,
  type TransportFailure,
} from "./transport.ts";

/** `ca`: certificate authority (PEM) of the servers. */
export function createNodeTransport({ ca }: { readonly ca?: string | undefined } = {}): Transport {
  const agents = new Map<string, object>();
  return async (request) => {
    const secure = request.url.startsWith("https:");
    const http = secure ? await import("node:https") : await import("node:http");
    const key = secure ? "https" : "http";
    const agent = (agents.get(key) ??
      new http.Agent({ keepAlive: true, ...(secure && ca !== undefined ? { ca } : {}) })) as import("node:https").Agent;
    agents.set(key, agent);
    return send((options) => http.request(request.url, { ...options, agent }), request);
  };
}

type Open = (options: { method: string; headers: Record<string, string> }) => ClientRequest;

function send(open: Open, request: HttpRequest): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    if (request.signal?.aborted === true) {
      reject(new TransportError("aborted", "The call was aborted"));
      return;
    }
    const headers: Record<string, string> = { ...request.headers };
    if (request.body !== undefined) headers["content-length"] = String(Buffer.byteLength(request.body));
    const outgoing = open({ method: request.method, headers });
    let failure: TransportError | null = null;
    const fail = (kind: TransportFailure, message: string) => {
      failure ??= new TransportError(kind, message);
      outgoing.destroy(failure);
    };
    const onAbort = () => fail("aborted", "The call was aborted");
    request.signal?.addEventListener("abort", onAbort, { once: true });
    outgoing.on("close", () => request.signal?.removeEventListener("abort", onAbort));
    if (request.idleTimeoutMs > 0) {
      outgoing.setTimeout(request.idleTimeoutMs, () =>
        fail("timeout", `No answer for ${request.idleTimeoutMs / 1000} s from ${new URL(request.url).host}`),
      );
    }
    outgoing.on("error", (error) => reject(failure ?? toTransportError(error, outgoing)));
    outgoing.on("response", (incoming) => {
      resolve({
        status: incoming.statusCode ?? 0,
        headers: flatten(incoming.headers),
        body: readBody(incoming, () => failure),
      });
    });
    outgoing.end(request.body);
  });
}

const NEVER_SENT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "ENOENT",
]);

function toTransportError(error: Error, outgoing: ClientRequest): TransportError {
  const { code } = error as NodeJS.ErrnoException;
  // A kept-alive connection that the server has closed meanwhile: the request was not taken.
  if (outgoing.reusedSocket && code === "ECONNRESET") return new TransportError("unreachable", error.message);
  if (isNoTls(code, error.message)) {
    const text = `${outgoing.host} does not use TLS: write http:// instead of https:// in its address`;
    return new TransportError("unreachable", text);
  }
  const kind = code !== undefined && NEVER_SENT.has(code) ? "unreachable" : "broken";
  // Node names every address it tried in an AggregateError and leaves the message empty.
  return new TransportError(kind, error.message === "" ? (code ?? "connection failed") : error.message);
}

/** A server without TLS answers with something that is no TLS record; these are OpenSSL's errors for that. */
const isNoTls = (code: string | undefined, message: string): boolean =>
  code === "ERR_SSL_WRONG_VERSION_NUMBER" ||
  code === "ERR_SSL_PACKET_LENGTH_TOO_LONG" ||
  (code === "EPROTO" && /wrong version number|packet length too long|http request/.test(message));

async function* readBody(incoming: IncomingMessage, failure: () => TransportError | null): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of incoming) yield chunk as Uint8Array;
  } catch (error) {
    throw failure() ?? new TransportError("broken", error instanceof Error ? error.message : String(error));
  }
}

function flatten(headers: IncomingMessage["headers"]): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}
