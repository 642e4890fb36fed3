// One request to one endpoint of a service, up to the beginning of its answer. There is a limit for the connection, and one for a
// service that takes a request and never says a word.

import { type IncomingMessage, request as openRequest } from "node:http";
import { ProblemError } from "@lattice/wire";
import { PROXY_CONNECT_MS } from "../../limits/limits.ts";
import { type Passing, towardsService } from "./headers.ts";

export interface Ask {
  readonly incoming: IncomingMessage;
  readonly path: string;
  readonly passing: Passing;
  readonly hasBody: boolean;
  /** For the beginning of the answer, once the request is sent. */
  readonly answerWithinMs: number;
  readonly signal: AbortSignal;
}

/** Rejects with a ProblemError `deadline_exceeded` when there is no answer, and with another error when there is no connection. */
export function ask({ incoming, path, passing, hasBody, answerWithinMs, signal }: Ask): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { address, port, node } = passing.endpoint;
    const outgoing = openRequest({
      host: address,
      port,
      path,
      method: incoming.method,
      headers: towardsService(incoming.headers, passing),
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
      const detail = `The service on node ${node}, port ${port}, took the request and has not answered for ${answerWithinMs / 1_000} s.`;
      timer = setTimeout(() => outgoing.destroy(new ProblemError("deadline_exceeded", { detail })), answerWithinMs);
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
    // Not before there is a connection: another endpoint may have to take it.
    else outgoing.once("socket", (socket) => (socket.connecting ? socket.once("connect", send) : send()));
    const send = (): void => void incoming.pipe(outgoing);
  });
}
