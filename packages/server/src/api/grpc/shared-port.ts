// REST on the gRPC port: HTTP/1.1 connections are passed to the REST listener, so that one address serves both. Without
// TLS the first bytes decide, since HTTP/2 begins with a preface; with TLS the protocol is agreed in the handshake.

import type { Http2Server } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

/** Takes over an HTTP/1.1 connection after its TLS handshake, if any. */
export type AcceptHttp1 = (socket: Socket) => void;

/** The start of every HTTP/2 connection. No HTTP/1.1 request in use begins like this. */
const PREFACE = Buffer.from("PRI * HTTP/2");

interface Share {
  readonly secure: boolean;
  /** A connection that stays silent for this long is closed. */
  readonly firstBytesTimeoutMs: number;
  readonly accept: AcceptHttp1;
}

/** Call it after the listener is bound. */
export function sharePort(listener: Http2Server, { secure, firstBytesTimeoutMs, accept }: Share): void {
  const event = secure ? "secureConnection" : "connection";
  const http2 = listener.listeners(event) as ((socket: Socket) => void)[];
  listener.removeAllListeners(event);
  const dispatch = (socket: Socket, isHttp2: boolean): void => {
    if (!isHttp2) accept(socket);
    else for (const listen of http2) listen.call(listener, socket);
  };
  listener.on(event, (socket: Socket) => {
    if (secure) dispatch(socket, (socket as TLSSocket).alpnProtocol === "h2");
    else firstBytes(socket, firstBytesTimeoutMs, (isHttp2) => dispatch(socket, isHttp2));
  });
}

/** Reads as many bytes as needed to decide, and puts them back. */
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

/** The socket closes after an error. */
const ignore = (): void => {};
