// The gRPC listener: the services of the contract, and further services on the same port, such as the one for agents.

import { Server } from "@grpc/grpc-js";
import { formatListen, type ListenAddress } from "../../base/config/index.ts";
import type { GrpcService } from "../../base/grpc/service.ts";
import { listenerCredentials } from "../../base/tls/grpc.ts";
import type { TlsSource } from "../../base/tls/source.ts";
import { SERVICES } from "../call/rpc.ts";
import type { ApiContext } from "../invoke/invoke.ts";
import { MAX_BODY_BYTES, MAX_STREAMS_PER_CONNECTION } from "../limits/limits.ts";
import { boundConnections, type Connections, listenersOf } from "./connections.ts";
import { serviceOf } from "./handlers.ts";
import { explainRefusals } from "./refusals.ts";
import { type AcceptHttp1, sharePort } from "./shared-port.ts";
import { createSlowCalls } from "./slow-calls.ts";

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
