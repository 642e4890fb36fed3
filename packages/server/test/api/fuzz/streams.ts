// Streams over pooled HTTP connections; the result is the status. A stream is closed after its first bytes, or soon if
// it stays silent.

import { Agent, type IncomingMessage, request as openRequest } from "node:http";
import type { FuzzRequest } from "./requests.ts";

export interface StreamAnswer {
  readonly status: number;
  readonly text: string;
}

export interface StreamClient {
  /** Rejects without an answer. */
  ask(request: FuzzRequest, leave: "at once" | "later"): Promise<StreamAnswer>;
  close(): void;
}

/** Time for the first bytes. */
const PATIENCE_MS = 5;

export function streamClient(rest: string, atOnce: number): StreamClient {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  return {
    ask: ({ method, url, headers, payload }, leave) =>
      new Promise((resolve, reject) => {
        const asked = openRequest(`${rest}${url}`, { method, headers, agent }, (response) => {
          resolve(read(response, leave));
        });
        asked.on("error", reject);
        asked.end(payload);
      }),
    close: () => agent.destroy(),
  };
}

function read(response: IncomingMessage, leave: "at once" | "later"): Promise<StreamAnswer> {
  const { statusCode: status = 0 } = response;
  return new Promise((resolve) => {
    let text = "";
    const told = (): void => resolve({ status, text });
    response.on("end", told).on("close", told).on("error", told);
    response.on("data", (part: Buffer) => {
      text += part.toString("latin1");
      if (status < 400) response.destroy();
    });
    if (status >= 400) return;
    if (leave === "at once") response.destroy();
    else setTimeout(() => response.destroy(), PATIENCE_MS);
  });
}
