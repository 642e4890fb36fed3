// The gRPC listener: the three services of the contract, and whatever else the server brings along
// (the agents' service shares the port).

import { Server } from "@grpc/grpc-js";
import { formatListen, type ListenAddress } from "../../base/config/index.ts";
import type { GrpcService } from "../../base/grpc/service.ts";
import { listenerCredentials } from "../../base/tls/grpc.ts";
import type { TlsSource } from "../../base/tls/source.ts";
import type { ApiContext } from "../invoke.ts";
import { MAX_BODY_BYTES, MAX_STREAMS_PER_CONNECTION } from "../limits/limits.ts";
import { SERVICES } from "../rpc.ts";
import { boundConnections, type Connections, listenersOf } from "./connections.ts";
import { serviceOf } from "./handlers.ts";
import { explainRefusals } from "./refusals.ts";
import { type AcceptHttp1, sharePort } from "./shared-port.ts";
import { createSlowCalls } from "./slow-calls.ts";

export interface Listener {
  readonly port: number;
  /** Stops accepting and resolves when the calls under way are answered, or after the deadline. */
  close(deadlineMs: number): Promise<void>;
}

/** Silent connections are probed, so that a dead peer is noticed within about a minute. */
const KEEPALIVE = {
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 20_000,
  "grpc.keepalive_permit_without_calls": 1,
  // Clients may probe as often as this without being sent away.
  "grpc.http2.min_ping_interval_without_data_ms": 5_000,
};

interface Place {
  readonly address: ListenAddress;
  readonly tls: TlsSource | null;
  /** Where requests in HTTP/1.1 go that come to this port. */
  readonly acceptHttp1: AcceptHttp1;
}

export async function startGrpc(door: ApiContext, place: Place, extra: readonly GrpcService[]): Promise<Listener> {
  const { requestTimeout, headersTimeout } = door.config.api;
  const slow = createSlowCalls(requestTimeout);
  const server = new Server({
    ...KEEPALIVE,
    "grpc.max_concurrent_streams": MAX_STREAMS_PER_CONNECTION,
    "grpc.max_receive_message_length": MAX_BODY_BYTES,
    "grpc.max_send_message_length": -1,
    // Channelz costs about a tenth of each call and has no reader; /metrics has the figures.
    "grpc.enable_channelz": 0,
    interceptors: [explainRefusals(door, slow, isOurs)],
  });
  for (const service of SERVICES.map((desc) => serviceOf(door, desc)).concat(extra))
    server.addService(service.definition, service.implementation);
  const port = await bind(server, place, headersTimeout);
  const connections = boundConnections(server, headersTimeout);
  for (const listener of listenersOf(server)) {
    sharePort(listener, { secure: place.tls !== null, greetWithinMs: headersTimeout, accept: place.acceptHttp1 });
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
/** What else is served knows its callers by certificate or token before they say anything. */
const isOurs = (path: string): boolean => OURS.has(path.slice(1, path.lastIndexOf("/")));

function bind(server: Server, { address, tls }: Place, greetWithinMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(formatListen(address), listenerCredentials(tls, greetWithinMs), (error, port) => {
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
