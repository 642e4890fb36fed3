// Adapts the WebSocket of the browser to terminals. A page cannot set headers, so its token travels as a subprotocol, never
// in the URL. The browser answers pings itself and does not report them.

import { protocolsWith, type SocketMessage, type WebSocketConnection } from "@lattice/wire";
import { TransportError } from "./transport.ts";
import type { WebSocketRequest } from "./web-socket.ts";

/** The part of the browser's WebSocket that is used. */
interface BrowserSocket {
  binaryType: string;
  readonly bufferedAmount: number;
  send(data: string | Uint8Array): void;
  close(code?: number, reason?: string): void;
  addEventListener(kind: string, listener: (event: never) => void): void;
}
type BrowserSocketClass = new (url: string, protocols: string[]) => BrowserSocket;

/** Writes wait while the browser buffers more than this. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
const BUFFER_POLL_MS = 20;
/** Close code of a browser for a connection that ended without a close frame. */
const ABNORMAL = 1006;

export function openBrowserWebSocket(request: WebSocketRequest): Promise<WebSocketConnection> {
  const Socket = (globalThis as { readonly WebSocket?: BrowserSocketClass }).WebSocket;
  if (Socket === undefined) return Promise.reject(new TransportError("unreachable", "this platform has no WebSocket"));
  return new Promise((resolve, reject) => {
    const socket = new Socket(addressOf(request), protocolsOf(request));
    socket.binaryType = "arraybuffer";
    const fail = (kind: "timeout" | "aborted" | "broken", message: string) => {
      clearTimeout(timer);
      socket.close();
      reject(new TransportError(kind, message));
    };
    const timer = setTimeout(() => fail("timeout", `No answer for ${request.timeoutMs / 1000} s`), request.timeoutMs);
    request.signal?.addEventListener("abort", () => fail("aborted", "The call was aborted"), { once: true });
    const connection = connectionOver(socket);
    socket.addEventListener("error", () => fail("broken", "the WebSocket could not be opened"));
    socket.addEventListener("open", () => {
      clearTimeout(timer);
      resolve(connection);
    });
  });
}

function addressOf({ url, headers }: WebSocketRequest): string {
  const address = new URL(url.replace(/^http/, "ws"));
  const { "x-lattice-user": user = "" } = headers;
  if (user !== "") address.searchParams.set("user", user);
  return address.href;
}

function protocolsOf({ headers: { authorization = "" } }: WebSocketRequest): string[] {
  return authorization.startsWith("Bearer ") ? [...protocolsWith(authorization.slice(7))] : [];
}

function connectionOver(socket: BrowserSocket): WebSocketConnection {
  const waiting: SocketMessage[] = [];
  let over = false;
  let heard = performance.now();
  let wake: () => void = () => undefined;
  let end: (how: { code: number; reason: string }) => void = () => undefined;
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    end = resolve;
  });
  socket.addEventListener("message", ({ data }: { readonly data: string | ArrayBuffer }) => {
    heard = performance.now();
    waiting.push(
      typeof data === "string" ? { kind: "text", text: data } : { kind: "binary", bytes: new Uint8Array(data) },
    );
    wake();
  });
  socket.addEventListener("close", ({ code, reason }: { readonly code: number; readonly reason: string }) => {
    over = true;
    end({ code: code === ABNORMAL ? 0 : code, reason });
    wake();
  });
  async function* messages(): AsyncGenerator<SocketMessage> {
    for (;;) {
      const next = waiting.shift();
      if (next !== undefined) yield next;
      else if (over) return;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }
  async function send(data: string | Uint8Array): Promise<void> {
    socket.send(data);
    while (!over && socket.bufferedAmount > MAX_BUFFERED_BYTES) {
      await new Promise((resolve) => setTimeout(resolve, BUFFER_POLL_MS));
    }
  }
  return {
    messages: messages(),
    sendText: send,
    sendBinary: send,
    ping: () => undefined,
    heardAt: () => heard,
    close: (code, reason) => socket.close(code, reason),
    closed,
  };
}
