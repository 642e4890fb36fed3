// Terminals over HTTP: a WebSocket for browsers and the CLI. The parameters are in the query; a refusal is an HTTP status
// before the upgrade. After it, binary frames are the bytes of the terminal, and text frames the other messages of the
// contract as JSON.

import { createHash } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { create, type Message } from "@bufbuild/protobuf";
import {
  CLOSE,
  fromJson,
  offeredProtocols,
  openConnection,
  PROBLEM_MEDIA_TYPE,
  type Problem,
  ProblemError,
  parseJsonText,
  pb,
  problemOf,
  problemToJson,
  SOCKET_PROTOCOL,
  toJson,
  type WebSocketConnection,
} from "@lattice/wire";
import { logEarlyRefusal } from "../invoke/early-refusal.ts";
import { type ApiContext, invokeStream, messagesOf } from "../invoke/invoke.ts";
import { MAX_TERMINAL_FRAME_BYTES, TERMINAL_PINGS } from "../limits/limits.ts";
import { lingerAtMost } from "./linger.ts";
import { refuseOrigin } from "./origin.ts";
import { pageHeaders, type RenewableHeaders, renewable } from "./page-headers.ts";
import { CHALLENGE, retryAfterOf } from "./problems.ts";
import { fromUpgrade, headersOf } from "./proxy/from.ts";
import { parseProxyPath } from "./proxy/path.ts";
import { proxyUpgrade } from "./proxy/upgrade.ts";

const ALLOCATION = /^(?:\/api)?\/v1\/allocations\/([^/]{1,200})\/attach$/;
const SESSION = /^(?:\/api)?\/v1\/sessions\/([^/]{1,200})\/terminal$/;

/** Whether the path serves only WebSockets. */
export const isTerminal = (path: string): boolean => ALLOCATION.test(path) || SESSION.test(path);

export function serveTerminals(server: Server, api: ApiContext): { close(): void } {
  const open = new Set<Duplex>();
  server.on("upgrade", (request, socket, head) => {
    open.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => open.delete(socket));
    lingerAtMost(socket);
    serve(api, request, socket, head).catch((error: unknown) => {
      const { code } = problemOf(error);
      const headers = pageHeaders(request);
      void logEarlyRefusal(api, { error, code, from: fromUpgrade(request), headers });
      refuse(socket, problemOf(error));
    });
  });
  return {
    close() {
      for (const socket of open) socket.end();
    },
  };
}

async function serve(api: ApiContext, request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
  const foreign = refuseOrigin(request.headers, api.config.api);
  if (foreign !== null) throw foreign;
  const url = new URL(request.url ?? "/", "http://localhost");
  const proxyPath = parseProxyPath(request.url ?? "/");
  if (proxyPath !== null) {
    return proxyUpgrade(api, proxyPath, { request, socket, head, headers: pageHeaders(request) });
  }
  const start = startOf(url);
  const key = keyOf(request);
  const gone = new AbortController();
  socket.once("close", () => gone.abort());
  const inbox = createInbox(create(pb.AttachRequestSchema, { message: { case: "start", value: start } }));
  const caller = renewable(pageHeaders(request));
  const arrival = {
    headers: caller.headers,
    from: fromUpgrade(request),
    minIndex: headerOf(request, "x-lattice-min-index"),
    consistent: false,
    warnings: [],
    signal: gone.signal,
  };
  const source = invokeStream(api, "SessionService.Attach", inbox.requests, arrival);
  // A refusal before the terminal is open becomes an HTTP status.
  const first = await source.next();
  if (first.done === true || gone.signal.aborted) throw new ProblemError("shutting_down");
  const offered = offeredProtocols(headerOf(request, "sec-websocket-protocol"));
  const protocol = offered.includes(SOCKET_PROTOCOL) ? `sec-websocket-protocol: ${SOCKET_PROTOCOL}\r\n` : "";
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n${protocol}sec-websocket-accept: ${key}\r\n\r\n`,
  );
  if (head.length > 0) socket.unshift(head);
  const connection = openConnection(socket, {
    side: "server",
    maxMessageBytes: MAX_TERMINAL_FRAME_BYTES,
    mask: () => new Uint8Array(0),
  });
  const stopPings = startPings(connection, socket, api.config.sessions.keepaliveTimeout);
  void listen(connection, inbox, caller).finally(() => inbox.end());
  void connection.closed.then(() => gone.abort());
  try {
    for (const message of messagesOf(first.value)) await show(connection, message);
    for await (const item of source) for (const message of messagesOf(item)) await show(connection, message);
    connection.close(CLOSE.normal, "");
  } catch (error) {
    const what = problemOf(error);
    await connection.sendText(JSON.stringify({ problem: problemToJson(what) }));
    connection.close(what.status === 503 ? CLOSE.goingAway : CLOSE.internal, what.detail);
  } finally {
    stopPings();
  }
}

function startOf(url: URL): pb.AttachStart {
  const allocation = ALLOCATION.exec(url.pathname)?.[1];
  const session = SESSION.exec(url.pathname)?.[1];
  const id = decodeURIComponent(allocation ?? session ?? "");
  if (id === "")
    throw new ProblemError("not_found", { detail: `There is no WebSocket at ${url.pathname.slice(0, 200)}.` });
  const text = (name: string) => queryOf(url, name) ?? "";
  return create(pb.AttachStartSchema, {
    // A session is named by its allocation and a number.
    id: session === undefined ? id : id.slice(0, id.includes(".") ? id.lastIndexOf(".") : undefined),
    node: text("node"),
    command: text("command"),
    size: { rows: side(url, "rows"), cols: side(url, "cols") },
    term: text("term"),
  });
}

function side(url: URL, name: string): number {
  const text = queryOf(url, name) ?? "0";
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  throw new ProblemError("invalid_argument", {
    detail: `${name}: is not a whole number`,
    fields: [{ field: name, detail: "is not a whole number" }],
  });
}

const queryOf = (url: URL, name: string): string | undefined => url.searchParams.get(name) ?? undefined;

const headerOf = (request: IncomingMessage, name: string): string | undefined => headersOf(request)(name);

/** Returns Sec-WebSocket-Accept (RFC 6455, section 4.2.2). */
function keyOf(request: IncomingMessage): string {
  const key = headerOf(request, "sec-websocket-key") ?? "";
  const version = headerOf(request, "sec-websocket-version");
  if (request.headers.upgrade?.toLowerCase() !== "websocket" || version !== "13" || key === "")
    throw new ProblemError("upgrade_required", { detail: "The upgrade is not to WebSocket, version 13." });
  return createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
}

function show(connection: WebSocketConnection, message: Message): Promise<void> {
  const { message: body } = message as pb.AttachResponse;
  if (body.case === "stdout") return connection.sendBinary(body.value);
  return connection.sendText(JSON.stringify(toJson(pb.AttachResponseSchema, message as pb.AttachResponse)));
}

async function listen(connection: WebSocketConnection, inbox: Inbox, caller: RenewableHeaders): Promise<void> {
  for await (const message of connection.messages) {
    if (message.kind === "binary") {
      await inbox.put(create(pb.AttachRequestSchema, { message: { case: "stdin", value: message.bytes } }));
      continue;
    }
    try {
      const json = parseJsonText(message.text);
      const token = tokenIn(json);
      if (token === null) await inbox.put(fromJson(pb.AttachRequestSchema, json));
      else caller.setToken(token);
    } catch (error) {
      const what = problemOf(error);
      await connection.sendText(JSON.stringify({ problem: problemToJson(what) }));
      connection.close(CLOSE.unsupported, what.detail);
      return;
    }
  }
}

/** A renewed token, which concerns this connection and is not a message of the terminal. */
const tokenIn = (json: unknown): string | null =>
  typeof json === "object" && json !== null && "token" in json && typeof json.token === "string" ? json.token : null;

/** Pings the client and closes the terminal of a client that no longer answers. */
function startPings(connection: WebSocketConnection, socket: Duplex, silenceMs: number): () => void {
  const timer = setInterval(() => {
    if (performance.now() - connection.heardAt() > silenceMs) socket.destroy();
    else connection.ping();
  }, silenceMs / TERMINAL_PINGS);
  return () => clearInterval(timer);
}

interface Inbox {
  readonly requests: AsyncIterable<Message>;
  /** Resolves when the message was consumed. */
  put(message: pb.AttachRequest): Promise<void>;
  end(): void;
}

/** Delivers one message at a time to its consumer. */
function createInbox(first: pb.AttachRequest): Inbox {
  let ended = false;
  const waiting: { readonly message: pb.AttachRequest; readonly taken: () => void }[] = [];
  let wake: () => void = () => undefined;
  async function* requests(): AsyncGenerator<Message> {
    yield first;
    for (;;) {
      const next = waiting.shift();
      if (next !== undefined) {
        yield next.message;
        next.taken();
      } else if (ended) return;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }
  return {
    requests: requests(),
    put: (message) =>
      new Promise((resolve) => {
        if (ended) return resolve();
        waiting.push({ message, taken: resolve });
        wake();
      }),
    end() {
      ended = true;
      for (const { taken } of waiting) taken();
      wake();
    },
  };
}

function refuse(socket: Duplex, what: Problem): void {
  if (!socket.writable) return void socket.destroy();
  const body = JSON.stringify(problemToJson(what));
  const challenge = what.status === 401 ? `www-authenticate: ${CHALLENGE}\r\n` : "";
  const wanted = what.status === 426 ? "upgrade: websocket\r\nsec-websocket-version: 13\r\n" : "";
  const seconds = retryAfterOf(what);
  const later = seconds === null ? "" : `retry-after: ${seconds}\r\n`;
  socket.end(
    `HTTP/1.1 ${what.status} Refused\r\nconnection: close\r\ncontent-type: ${PROBLEM_MEDIA_TYPE}\r\n${later}${challenge}${wanted}` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
