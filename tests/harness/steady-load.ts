// Clients that keep their connection over TLS to one server each and submit one job after the other. They count requests
// whose connection closes before the answer: such a client cannot know whether its job was submitted.

import { Agent, request } from "node:https";
import type { TLSSocket } from "node:tls";
import { sleep } from "./eventually.ts";

/** Far shorter than the time for which a stopping server waits for the next request of a kept connection. */
const LONGEST_PAUSE_MS = 20;
const UNREACHABLE_PAUSE_MS = 50;
const ANSWER_WITHIN_MS = 60_000;

interface LoadOptions {
  readonly urls: readonly string[];
  readonly clientsPerServer: number;
  readonly ca: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

interface LoadResult {
  /** Ids of acknowledged submissions. */
  readonly ids: readonly string[];
  /** Code of each problem, with its number of answers. */
  readonly problems: ReadonlyMap<string, number>;
  /** Attempts to connect to a server that does not listen. */
  readonly unreachable: number;
  /** Requests that were sent and not answered. */
  readonly unanswered: readonly string[];
}

export interface SteadyLoad {
  /** Acknowledged submissions so far. */
  acknowledged(): number;
  /** Waits for the running requests. */
  stop(): Promise<LoadResult>;
}

type Outcome =
  | { readonly kind: "answered"; readonly status: number; readonly text: string }
  | { readonly kind: "unreachable" }
  | { readonly kind: "unanswered"; readonly error: string };

export function startLoad({ urls, clientsPerServer, ca, headers, body }: LoadOptions): SteadyLoad {
  const ids: string[] = [];
  const problems = new Map<string, number>();
  const unanswered: string[] = [];
  let unreachable = 0;
  let isStopped = false;

  const record = (url: string, outcome: Outcome): void => {
    if (outcome.kind === "unreachable") unreachable += 1;
    if (outcome.kind === "unanswered") unanswered.push(`${url}: ${outcome.error}`);
    if (outcome.kind !== "answered") return;
    const { id, code = `status ${outcome.status}` } = JSON.parse(outcome.text) as { id?: string; code?: string };
    if (outcome.status === 200 && id !== undefined) ids.push(id);
    else problems.set(code, (problems.get(code) ?? 0) + 1);
  };
  const runClient = async (url: string): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });
    while (!isStopped) {
      const outcome = await post({ url: `${url}/api/v1/allocations`, agent, headers, body: JSON.stringify(body) });
      record(url, outcome);
      await sleep(outcome.kind === "unreachable" ? UNREACHABLE_PAUSE_MS : Math.random() * LONGEST_PAUSE_MS);
    }
    agent.destroy();
  };
  const clients = urls.flatMap((url) => Array.from({ length: clientsPerServer }, () => runClient(url)));
  return {
    acknowledged: () => ids.length,
    async stop() {
      isStopped = true;
      await Promise.all(clients);
      return { ids, problems, unreachable, unanswered };
    },
  };
}

interface Post {
  readonly url: string;
  readonly agent: Agent;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function post({ url, agent, headers, body }: Post): Promise<Outcome> {
  return new Promise((resolve) => {
    let isConnected = false;
    const sent = request(
      url,
      { method: "POST", agent, headers: { "content-type": "application/json", ...headers }, timeout: ANSWER_WITHIN_MS },
      (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.on("error", (error) => resolve({ kind: "unanswered", error: `in its answer: ${error.message}` }));
        response.on("end", () => resolve({ kind: "answered", status: response.statusCode ?? 0, text }));
      },
    );
    // The request is sent once the connection is secured.
    sent.on("socket", (socket: TLSSocket) => {
      if (sent.reusedSocket || socket.getFinished() !== undefined) isConnected = true;
      else socket.once("secureConnect", () => (isConnected = true));
    });
    sent.on("timeout", () => sent.destroy(new Error("no answer in time")));
    sent.on("error", ({ message }) =>
      resolve(isConnected ? { kind: "unanswered", error: message } : { kind: "unreachable" }),
    );
    sent.end(body);
  });
}
