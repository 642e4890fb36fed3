// A WebSocket for Node, opened with `node:http`; the server uses the same framing code. A refusal before the upgrade
// becomes a problem.

import type { IncomingMessage } from "node:http";
import { openConnection, type WebSocketConnection } from "@lattice/wire";
import { errorFromAnswer } from "../error.ts";
import { readText, TransportError } from "./transport.ts";
import type { WebSocketRequest } from "./web-socket.ts";

/** Messages are usually one screen or a chunk of 64 KiB; the limit is generous. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
const KEY_BYTES = 16;
const MASK_BYTES = 4;

/** `ca`: certificate authority (PEM) of the server. */
export async function openWebSocket(request: WebSocketRequest, ca?: string): Promise<WebSocketConnection> {
  const { randomBytes, createHash } = await import("node:crypto");
  const http = request.url.startsWith("https:") ? await import("node:https") : await import("node:http");
  const key = randomBytes(KEY_BYTES).toString("base64");
  const proof = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  return new Promise((resolve, reject) => {
    const outgoing = http.request(request.url, {
      method: "GET",
      ...(ca === undefined ? {} : { ca }),
      headers: {
        ...request.headers,
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": key,
      },
    });
    const abort = () => outgoing.destroy(new TransportError("aborted", "The call was aborted"));
    request.signal?.addEventListener("abort", abort, { once: true });
    outgoing.once("close", () => request.signal?.removeEventListener("abort", abort));
    outgoing.setTimeout(request.timeoutMs, () =>
      outgoing.destroy(new TransportError("timeout", `No answer for ${request.timeoutMs / 1000} s`)),
    );
    outgoing.once("error", (error) => reject(asTransportError(error)));
    outgoing.once("response", (response: IncomingMessage) => {
      readText(response).then(
        (text) => reject(errorFromAnswer(response.statusCode ?? 0, text)),
        (error: unknown) => reject(asTransportError(error as Error)),
      );
    });
    outgoing.once("upgrade", (response, socket, head) => {
      if (response.headers["sec-websocket-accept"] !== proof) {
        socket.destroy();
        return reject(new TransportError("broken", "what answers is not a WebSocket"));
      }
      socket.setTimeout(0);
      // Keystrokes are small and must not wait for each other.
      if ("setNoDelay" in socket && typeof socket.setNoDelay === "function") socket.setNoDelay(true);
      const connection = openConnection(socket, {
        side: "client",
        maxMessageBytes: MAX_MESSAGE_BYTES,
        mask: () => randomBytes(MASK_BYTES),
      });
      if (head.length > 0) socket.unshift(head);
      resolve(connection);
    });
    outgoing.end();
  });
}

function asTransportError(error: Error): TransportError {
  if (error instanceof TransportError) return error;
  const { code } = error as NodeJS.ErrnoException;
  const never = code === "ECONNREFUSED" || code === "ENOTFOUND" || code === "EHOSTUNREACH";
  return new TransportError(
    never ? "unreachable" : "broken",
    error.message === "" ? (code ?? "failed") : error.message,
  );
}
