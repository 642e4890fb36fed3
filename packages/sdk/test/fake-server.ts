// A small HTTP server in this process whose answers a test scripts one by one.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export type Answer = (request: Seen, response: ServerResponse) => void;

export interface FakeServer {
  readonly url: string;
  readonly seen: Seen[];
  /** Answers in order; the last one stays. */
  answer(...answers: Answer[]): void;
  close(): Promise<void>;
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };

/** Takes the request and cuts the connection. */
export const cut: Answer = (_request, response) => void response.socket?.destroy();

export async function startFakeServer(): Promise<FakeServer> {
  const seen: Seen[] = [];
  let answers: Answer[] = [json(404, {})];
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const record = { method: request.method ?? "", url: request.url ?? "", headers: request.headers, body };
      seen.push(record);
      const next = answers.length > 1 ? answers.shift() : answers[0];
      next?.(record, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    answer: (...next) => {
      answers = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
