// The gRPC listener: the services of the contract, and further services on the same port, such as the one for agents.

import { constants, type Http2Server, type Http2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { Server, type ServerInterceptingCall, type ServerInterceptor, status } from "@grpc/grpc-js";
import { type Problem, problem } from "@lattice/wire";
import { formatListen, type ListenAddress } from "../../base/config/index.ts";
import type { GrpcService } from "../../base/grpc/service.ts";
import { statusOf } from "../../base/grpc/status.ts";
import { listenerCredentials } from "../../base/tls/grpc.ts";
import type { TlsSource } from "../../base/tls/source.ts";
import { SERVICES } from "../call/rpc.ts";
import { logEarlyRefusal } from "../invoke/early-refusal.ts";
import type { ApiContext } from "../invoke/invoke.ts";
import { MAX_BODY_BYTES, MAX_STREAMS_PER_CONNECTION } from "../limits/limits.ts";
import { boundConnections, type Connections, listenersOf } from "./connections.ts";
import { serviceOf } from "./handlers.ts";
import { createSlowCalls, type SlowCalls } from "./slow-calls.ts";

interface GrpcListener {
  readonly port: number;
  /** Stops accepting and resolves when the running calls are answered, or after the deadline. */
  close(deadlineMs: number): Promise<void>;
}

/** Silent connections are probed, so that a dead peer is noticed within about a minute. */
const KEEPALIVE = {
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 20_000,
  "grpc.keepalive_permit_without_calls": 1,
  // Clients that probe more often are disconnected.
  "grpc.http2.min_ping_interval_without_data_ms": 5_000,
};

interface ListenOptions {
  readonly address: ListenAddress;
  readonly tls: TlsSource | null;
  /** Serves HTTP/1.1 connections to this port. */
  readonly acceptHttp1: AcceptHttp1;
}

export async function startGrpc(
  api: ApiContext,
  listen: ListenOptions,
  extra: readonly GrpcService[],
): Promise<GrpcListener> {
  const { requestTimeout, headersTimeout } = api.config.api;
  const slow = createSlowCalls(requestTimeout);
  const server = new Server({
    ...KEEPALIVE,
    "grpc.max_concurrent_streams": MAX_STREAMS_PER_CONNECTION,
    "grpc.max_receive_message_length": MAX_BODY_BYTES,
    "grpc.max_send_message_length": -1,
    // Channelz costs about a tenth of each call and has no reader; /metrics has the figures.
    "grpc.enable_channelz": 0,
    interceptors: [explainRefusals(api, slow, isOurs)],
  });
  for (const service of SERVICES.map((desc) => serviceOf(api, desc)).concat(extra))
    server.addService(service.definition, service.implementation);
  const port = await bind(server, listen, headersTimeout);
  const connections = boundConnections(server, headersTimeout);
  for (const listener of listenersOf(server)) {
    sharePort(listener, {
      secure: listen.tls !== null,
      firstBytesTimeoutMs: headersTimeout,
      accept: listen.acceptHttp1,
    });
  }
  return {
    port,
    async close(deadlineMs) {
      await stop(server, connections, deadlineMs);
      slow.close();
    },
  };
}

const OURS = new Set(SERVICES.map(({ typeName }) => typeName as string));
/** The other services authenticate before the first message. */
const isOurs = (path: string): boolean => OURS.has(path.slice(1, path.lastIndexOf("/")));

function bind(server: Server, { address, tls }: ListenOptions, firstBytesTimeoutMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(formatListen(address), listenerCredentials(tls, firstBytesTimeoutMs), (error, port) => {
      if (error === null) resolve(port);
      else reject(new Error(`Cannot listen on ${formatListen(address)} for gRPC: ${error.message}`));
    });
  });
}

function stop(server: Server, connections: Connections, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.forceShutdown();
      connections.destroy();
    }, deadlineMs);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

// Adds problems to refusals of the gRPC library, which happen before any handler: a message over the limit, or one that
// cannot be decompressed. The library sends bare statuses; with a problem they read the same as over REST. Calls whose
// first message does not arrive in time are refused here as well.

/** `timed`: whether a call of this path must send its first message in time. */
function explainRefusals(api: ApiContext, slow: SlowCalls, timed: (path: string) => boolean): ServerInterceptor {
  return ({ path }, call) => {
    const send = call.sendStatus.bind(call);
    const refuse = (what: Problem): void => {
      const from = { interface: "grpc", path, remote: call.getPeer() } as const;
      void logEarlyRefusal(api, { error: what, code: what.code, from, headers: null });
      send(statusOf(what));
      closeStream(call);
    };
    // The library refuses on the innermost call, which no outer interceptor sees.
    call.sendStatus = (outcome) => {
      // Statuses of handlers have a trailer.
      if (outcome.code !== status.RESOURCE_EXHAUSTED || outcome.metadata != null) return send(outcome);
      refuse(problem("body_too_large", { detail: `The body is larger than ${MAX_BODY_BYTES} bytes.` }));
    };
    if (timed(path)) expectMessage(call, slow, refuse);
    // Returned unwrapped: nothing else is intercepted, and a wrapper would slow down every call.
    return call as unknown as ServerInterceptingCall;
  };
}

/** The caller may continue to send; the messages are discarded. */
function closeStream(call: Call): void {
  const { stream } = call as unknown as { readonly stream?: Pick<Http2Stream, "close"> };
  stream?.close(constants.NGHTTP2_NO_ERROR);
}

type Call = Parameters<ServerInterceptor>[1];

function expectMessage(call: Call, slow: SlowCalls, refuse: (what: Problem) => void): void {
  const start = call.start.bind(call);
  call.start = (listener) => {
    const received = slow.begin(() =>
      refuse(problem("deadline_exceeded", { detail: "The request did not arrive in time." })),
    );
    const receive = listener.onReceiveMessage.bind(listener);
    listener.onReceiveMessage = (message) => {
      received();
      receive(message);
    };
    const cancel = listener.onCancel.bind(listener);
    listener.onCancel = () => {
      received();
      cancel();
    };
    start(listener);
  };
}

// REST on the gRPC port: HTTP/1.1 connections are passed to the REST listener, so that one address serves both. Without
// TLS the first bytes decide, since HTTP/2 begins with a preface; with TLS the protocol is agreed in the handshake.

/** Takes over an HTTP/1.1 connection after its TLS handshake, if any. */
type AcceptHttp1 = (socket: Socket) => void;

/** The start of every HTTP/2 connection. No HTTP/1.1 request in use begins like this. */
const PREFACE = Buffer.from("PRI * HTTP/2");

interface Share {
  readonly secure: boolean;
  /** A connection that stays silent for this long is closed. */
  readonly firstBytesTimeoutMs: number;
  readonly accept: AcceptHttp1;
}

/** Call it after the listener is bound. */
function sharePort(listener: Http2Server, { secure, firstBytesTimeoutMs, accept }: Share): void {
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
