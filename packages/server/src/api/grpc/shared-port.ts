// REST on the gRPC port: an HTTP/1.1 connection is handed to the REST listener, whole and untouched, so that one
// address serves both. In the clear the first bytes tell, since HTTP/2 begins with a line of its own; with TLS the
// two sides have agreed on a protocol in the handshake.

import type { Http2Server } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

/** Takes over a connection on which HTTP/1.1 is spoken, its handshake done where there is one. */
export type AcceptHttp1 = (socket: Socket) => void;

/** How every connection of HTTP/2 begins; no method of HTTP/1.1 in use does. */
const PREFACE = Buffer.from("PRI * HTTP/2");

interface Share {
  readonly secure: boolean;
  /** A connection that stays silent for this long is closed. */
  readonly greetWithinMs: number;
  readonly accept: AcceptHttp1;
}

/** For a listener that is bound already. */
export function sharePort(listener: Http2Server, { secure, greetWithinMs, accept }: Share): void {
  const event = secure ? "secureConnection" : "connection";
  const http2 = listener.listeners(event) as ((socket: Socket) => void)[];
  listener.removeAllListeners(event);
  const dispatch = (socket: Socket, isHttp2: boolean): void => {
    if (!isHttp2) accept(socket);
    else for (const listen of http2) listen.call(listener, socket);
  };
  listener.on(event, (socket: Socket) => {
    if (secure) dispatch(socket, (socket as TLSSocket).alpnProtocol === "h2");
    else firstBytes(socket, greetWithinMs, (isHttp2) => dispatch(socket, isHttp2));
  });
}

/** Looks as far as needed, and puts back what it has read. */
function firstBytes(socket: Socket, withinMs: number, decided: (isHttp2: boolean) => void): void {
  let seen = Buffer.alloc(0);
  const timer = setTimeout(() => socket.destroy(), withinMs);
  timer.unref();
  const leave = (): void => {
    clearTimeout(timer);
    socket.off("readable", look);
    socket.off("close", leave);
    socket.off("error", ignore);
  };
  function look(): void {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    seen = Buffer.concat([seen, chunk]);
    const length = Math.min(seen.length, PREFACE.length);
    const alike = seen.subarray(0, length).equals(PREFACE.subarray(0, length));
    if (alike && length < PREFACE.length) return;
    leave();
    socket.unshift(seen);
    decided(alike);
  }
  socket.on("readable", look);
  socket.on("close", leave);
  socket.on("error", ignore);
}

/** It closes by itself. */
const ignore = (): void => {};
