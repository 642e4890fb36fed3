// Connections to the members of an etcd cluster. One member is used at a time; when it does not answer, the next one
// is. Every call has a deadline. Reads are retried on other members until their deadline; a write is sent once,
// because only its author knows whether repeating it is safe.

import {
  create,
  type DescMessage,
  type DescMethodBiDiStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Client, type ClientDuplexStream, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { EtcdError, etcdError } from "./etcd-error.ts";

/** Largest accepted answer. A page of the log is far smaller; a snapshot comes in pieces. */
const MAX_RECEIVE_BYTES = 64 * 1024 * 1024;
const RECONNECT_MS = { "grpc.initial_reconnect_backoff_ms": 100, "grpc.max_reconnect_backoff_ms": 1000 } as const;
/** Pause between two tries of a read, so that an unavailable cluster is not polled in a tight loop. */
const RETRY_PAUSE_MS = 50;

/** PEM texts. `cert` and `key` authenticate this server; `null` when etcd does not ask for them. */
export interface EtcdTls {
  readonly ca: string;
  readonly cert: string | null;
  readonly key: string | null;
  /** The name in the certificates of members. Default: the host of the endpoint. */
  readonly serverName?: string;
}

export interface ChannelOptions {
  /** "host:port", "http://host:port" or "https://host:port". */
  readonly endpoints: readonly string[];
  readonly tls: EtcdTls | null;
  /** Called for every answer with the id of etcd's cluster; when it throws, the call fails with that. */
  readonly onAnswer?: (clusterId: bigint) => void;
}

interface CallOptions {
  /** For the call as a whole. */
  readonly timeoutMs: number;
  /** Retry, on other members too, until the deadline. Only for idempotent calls. */
  readonly retry?: { readonly attemptMs: number };
  readonly signal?: AbortSignal;
}

export interface Duplex<I extends DescMessage, O extends DescMessage> {
  readonly stream: ClientDuplexStream<MessageInitShape<I>, MessageShape<O>>;
  readonly endpoint: string;
  /** Makes the next call go to another member. */
  blame(): void;
}

interface Channel {
  unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    options: CallOptions,
  ): Promise<MessageShape<O>>;
  duplex<I extends DescMessage, O extends DescMessage>(method: DescMethodBiDiStreaming<I, O>): Duplex<I, O>;
  /** The member used at the moment. */
  endpoint(): string;
  close(): void;
}

export function openChannel({ endpoints, tls, onAnswer = () => undefined }: ChannelOptions): Channel {
  if (endpoints.length === 0) throw new EtcdError("refused", "no etcd endpoint is configured");
  const members = endpoints.map((endpoint) => ({ endpoint, client: connect(endpoint, tls) }));
  let current = 0;
  let closed = false;
  const member = (): { readonly endpoint: string; readonly client: Client } => {
    const chosen = members[current];
    if (chosen === undefined) throw new RangeError("no such member");
    return chosen;
  };
  const blame = (failed: { readonly endpoint: string }): void => {
    if (member() === failed) current = (current + 1) % members.length;
  };

  const once = <I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<MessageShape<O>> => {
    const used = member();
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(new EtcdError("unavailable", "the call was aborted"));
      if (closed) return reject(new EtcdError("unavailable", "the connections to etcd are closed"));
      const cancel = (): void => call.cancel();
      const call = used.client.makeUnaryRequest(
        pathOf(method),
        writer(method.input),
        reader(method.output),
        request,
        needsLeader(),
        { deadline: Date.now() + Math.max(1, timeoutMs) },
        (cause: ServiceError | null, answer?: MessageShape<O>) => {
          signal?.removeEventListener("abort", cancel);
          if (answer !== undefined && cause === null) return resolve(accept(answer, onAnswer));
          const error =
            cause === null ? new EtcdError("unavailable", "an empty answer") : etcdError(cause, used.endpoint);
          if (error.kind === "unavailable") blame(used);
          reject(error);
        },
      );
      signal?.addEventListener("abort", cancel, { once: true });
    });
  };

  return {
    async unary(method, request, { timeoutMs, retry, signal }) {
      if (retry === undefined) return once(method, request, timeoutMs, signal);
      const until = performance.now() + timeoutMs;
      for (;;) {
        try {
          return await once(method, request, Math.min(retry.attemptMs, until - performance.now()), signal);
        } catch (error) {
          const again = error instanceof EtcdError && error.kind === "unavailable" && signal?.aborted !== true;
          if (!again || performance.now() + RETRY_PAUSE_MS >= until) throw error;
          await pause(RETRY_PAUSE_MS);
        }
      }
    },
    duplex(method) {
      if (closed) throw new EtcdError("unavailable", "the connections to etcd are closed");
      const used = member();
      const stream = used.client.makeBidiStreamRequest(
        pathOf(method),
        writer(method.input),
        reader(method.output),
        needsLeader(),
      );
      return { stream, endpoint: used.endpoint, blame: () => blame(used) };
    },
    endpoint: () => member().endpoint,
    close() {
      closed = true;
      for (const { client } of members) client.close();
    },
  };
}

function connect(endpoint: string, tls: EtcdTls | null): Client {
  const secure = endpoint.startsWith("https://") || (tls !== null && !endpoint.startsWith("http://"));
  const address = endpoint.replace(/^https?:\/\//, "").replace(/\/+$/, "");
  return new Client(address, secure ? secured(tls) : credentials.createInsecure(), {
    "grpc.max_receive_message_length": MAX_RECEIVE_BYTES,
    "grpc.max_send_message_length": MAX_RECEIVE_BYTES,
    // Connections of its own: closing one log must not affect another.
    "grpc.use_local_subchannel_pool": 1,
    ...(tls?.serverName === undefined || !secure ? {} : { "grpc.ssl_target_name_override": tls.serverName }),
    ...RECONNECT_MS,
  });
}

/** Every answer of etcd names its cluster. */
async function accept<T>(answer: T, onAnswer: (clusterId: bigint) => void): Promise<T> {
  const { header } = answer as { readonly header?: { readonly clusterId: bigint } };
  if (header !== undefined) onAnswer(header.clusterId);
  return answer;
}

const secured = (tls: EtcdTls | null) =>
  credentials.createSsl(bufferOf(tls?.ca), bufferOf(tls?.key ?? undefined), bufferOf(tls?.cert ?? undefined));

const bufferOf = (pem: string | undefined): Buffer | null => (pem === undefined ? null : Buffer.from(pem));

/** A member without a majority refuses at once instead of letting the call time out. */
function needsLeader(): Metadata {
  const metadata = new Metadata();
  metadata.set("hasleader", "true");
  return metadata;
}

const pathOf = (method: { readonly parent: { readonly typeName: string }; readonly name: string }): string =>
  `/${method.parent.typeName}/${method.name}`;

const writer =
  <D extends DescMessage>(schema: D) =>
  (message: MessageInitShape<D>): Buffer => {
    const bytes = toBinary(schema, create(schema, message));
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };

const reader =
  <D extends DescMessage>(schema: D) =>
  (bytes: Uint8Array): MessageShape<D> =>
    fromBinary(schema, bytes);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
