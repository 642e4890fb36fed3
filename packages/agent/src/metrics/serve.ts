// Serves the metrics page over HTTP, without authentication. It answers nothing else and reads only the first line of
// a request.

import { createServer, type Server } from "node:http";
import type { Logger } from "pino";

export interface MetricsListen {
  /** host:port, or :port for every address. */
  readonly listen: string;
  /** False for the default port, which may be taken. */
  readonly required: boolean;
}

interface ServedMetrics {
  /** The actual host:port. */
  readonly address: string;
  close(): void;
}

export const DEFAULT_METRICS = ":9103";
/** There are few scrapers, and any host may connect. */
const MAX_CONNECTIONS = 16;
const REQUEST_TIMEOUT_MS = 5_000;

/** Resolves to null when the default port is taken. Rejects when a requested address is unavailable. */
export async function serveMetrics(
  { listen, required }: MetricsListen,
  page: () => string,
  log: Logger,
): Promise<ServedMetrics | null> {
  const server = serverOf(page, log);
  try {
    await listening(server, listen);
  } catch (error) {
    if (required) throw new Error(`cannot serve metrics on ${listen}: ${(error as Error).message}`);
    log.warn(
      { listen, error: (error as Error).message },
      "metrics not served: the address is unavailable (--metrics-listen)",
    );
    return null;
  }
  server.unref();
  const found = server.address();
  const port = found !== null && typeof found === "object" ? found.port : 0;
  const address = `${listen.slice(0, listen.lastIndexOf(":"))}:${port}`;
  log.info({ metrics: address }, "metrics served");
  return {
    address,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function serverOf(page: () => string, log: Logger): Server {
  const how = { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS };
  const server = createServer(how, ({ method, url = "" }, answer) => {
    const plain = (status: number, text: string): void => {
      answer.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(text);
    };
    if (url.split("?", 1)[0] !== "/metrics") return plain(404, "only /metrics is here\n");
    if (method !== "GET" && method !== "HEAD") return plain(405, "GET alone\n");
    try {
      const text = page();
      answer.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(text);
    } catch (error) {
      log.error({ error: (error as Error).message }, "the metrics page cannot be rendered");
      plain(500, "the metrics page cannot be rendered\n");
    }
  });
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

function listening(server: Server, listen: string): Promise<void> {
  const at = listen.lastIndexOf(":");
  const host = listen.slice(0, at).replace(/^\[(.*)\]$/, "$1");
  const port = Number(listen.slice(at + 1));
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, ...(host === "" ? {} : { host }) }, () => {
      server.off("error", reject);
      // A later error must not end the agent.
      server.on("error", () => undefined);
      resolve();
    });
  });
}
