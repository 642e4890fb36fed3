// Channels to servers. A real node has one per server; hollow nodes share a few. Keepalive detects a server that
// vanished silently.

import { type ChannelCredentials, Client, credentials, InterceptingCall, type Interceptor } from "@grpc/grpc-js";
import { type GreetingGate, gate } from "./gate.ts";

export interface Dialer {
  readonly servers: readonly string[];
  /** Each node passes it before its Hello. */
  readonly greeting: GreetingGate;
  /** The channel of member `member` of this process to this server. */
  client(server: string, member: number): Client;
  close(): void;
}

interface DialOptions {
  /** host:port; an http:// or https:// prefix is accepted. */
  readonly servers: readonly string[];
  readonly membersPerChannel?: number;
  /** Sent with every call; absent when servers need none. */
  readonly token?: string | undefined;
  /** Default: unencrypted. */
  readonly credentials?: ChannelCredentials;
}

/**
 * A paused server keeps its connections. A node notices about as soon as the lease of a paused leader ends, so that the
 * next leader can place work; 10,000 nodes then cost a server 3 % of a core.
 */
const KEEPALIVE_MS = 2_000;
const KEEPALIVE_TIMEOUT_MS = 2_000;
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** The link has its own jittered backoff; the channel's must not add to it. */
const CHANNEL_BACKOFF_FIRST_MS = 50;
const CHANNEL_BACKOFF_CEILING_MS = 1_000;

export function dialer({ servers, membersPerChannel = 1, token, credentials: how }: DialOptions): Dialer {
  const clients = new Map<string, Client>();
  return {
    servers: servers.map(parseServer),
    greeting: gate(),
    client(server, member) {
      const name = `${server}#${Math.floor(member / membersPerChannel)}`;
      const known = clients.get(name);
      if (known !== undefined) return known;
      const made = new Client(server, how ?? credentials.createInsecure(), {
        "grpc.keepalive_time_ms": KEEPALIVE_MS,
        "grpc.keepalive_timeout_ms": KEEPALIVE_TIMEOUT_MS,
        "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
        "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
        "grpc.initial_reconnect_backoff_ms": CHANNEL_BACKOFF_FIRST_MS,
        "grpc.min_reconnect_backoff_ms": CHANNEL_BACKOFF_FIRST_MS,
        "grpc.max_reconnect_backoff_ms": CHANNEL_BACKOFF_CEILING_MS,
        "grpc.use_local_subchannel_pool": 1,
        "grpc.enable_retries": 0,
        "grpc.service_config_disable_resolution": 1,
        "grpc.enable_http_proxy": 0,
        ...(token === undefined ? {} : { interceptors: [bearing(token)] }),
      });
      clients.set(name, made);
      return made;
    },
    close() {
      for (const client of clients.values()) client.close();
      clients.clear();
    },
  };
}

const bearing =
  (token: string): Interceptor =>
  (options, next) =>
    new InterceptingCall(next(options), {
      start(metadata, listener, go) {
        metadata.set("authorization", `Bearer ${token}`);
        go(metadata, listener);
      },
    });

export function parseServer(text: string): string {
  const address = text.replace(/^https?:\/\//, "").replace(/\/+$/, "");
  const port = Number(address.slice(address.lastIndexOf(":") + 1));
  if (!/^[^/]+:\d+$/.test(address) || port < 1 || port > 65_535) {
    throw new RangeError(`server address must be host:port, got "${text}"`);
  }
  return address;
}
