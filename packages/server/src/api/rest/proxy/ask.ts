// One request to one endpoint of a service, up to the headers of its answer, with a limit for the connection and one for
// the answer.

import { type IncomingMessage, request as openRequest } from "node:http";
import { ProblemError } from "@lattice/wire";
import { PROXY_CONNECT_MS } from "../../limits/limits.ts";
import { type ProxiedRequest, towardsService } from "./headers.ts";

interface Ask {
  readonly incoming: IncomingMessage;
  /** The checked address of the endpoint. */
  readonly host: string;
  readonly path: string;
  readonly proxied: ProxiedRequest;
  readonly hasBody: boolean;
  /** The limit for the headers of the answer, after the request was sent. */
  readonly answerTimeoutMs: number;
  readonly signal: AbortSignal;
}

/** Rejects with a ProblemError `deadline_exceeded` without an answer, and with another error without a connection. */
export function ask({
  incoming,
  host,
  path,
  proxied,
  hasBody,
  answerTimeoutMs,
  signal,
}: Ask): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { port, node } = proxied.endpoint;
    const outgoing = openRequest({
      host,
      port,
      path,
      method: incoming.method,
      headers: towardsService(incoming.headers, proxied),
      agent: false,
      signal,
    });
    let timer = setTimeout(() => outgoing.destroy(new Error("no connection")), PROXY_CONNECT_MS);
    const connected = (): void => clearTimeout(timer);
    outgoing.once("socket", (socket) => {
      if (socket.connecting) socket.once("connect", connected);
      else connected();
    });
    outgoing.once("finish", () => {
      clearTimeout(timer);
      const detail = `The service on node ${node}, port ${port}, has not answered the request for ${answerTimeoutMs / 1_000} s.`;
      timer = setTimeout(() => outgoing.destroy(new ProblemError("deadline_exceeded", { detail })), answerTimeoutMs);
    });
    outgoing.once("response", (answer) => {
      clearTimeout(timer);
      resolve(answer);
    });
    outgoing.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    if (!hasBody) outgoing.end();
    // Not before the connection is open, so that another endpoint can still be tried.
    else outgoing.once("socket", (socket) => (socket.connecting ? socket.once("connect", send) : send()));
    const send = (): void => void incoming.pipe(outgoing);
  });
}
