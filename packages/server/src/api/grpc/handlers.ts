// The contract's services as grpc-js wants them: each method reads its metadata, goes through
// `invoke`, and answers with a message or with a status that carries the problem.

import type { DescMethod, DescService, Message } from "@bufbuild/protobuf";
import {
  type handleBidiStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  type ServerDuplexStream,
  type ServerWritableStream,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import {
  type MethodDefinition,
  ProblemError,
  problemOf,
  type ServiceDefinition,
  serviceDefinition,
} from "@lattice/wire";
import type { GrpcService } from "../../base/grpc/service.ts";
import { statusOf } from "../../base/grpc/status.ts";
import type { From } from "../../base/observe/access-log.ts";
import { type CertifiedCall, certificateOf } from "../../base/tls/shown.ts";
import {
  type ApiContext,
  type Item,
  indexOf,
  invokeStream,
  invokeUnary,
  LOG_INDEX_HEADER,
  MIN_INDEX_HEADER,
  messagesOf,
  type RequestMeta,
  STALE_HEADER,
  streamStalled,
} from "../invoke.ts";
import { refusedEarly } from "../refused-early.ts";
import type { RpcName } from "../rpc.ts";
import { drained } from "../streams/drained.ts";
import { beyondBounds } from "./message-bounds.ts";

/** What the decoder yields: a message, or why there is none. */
type Decoded = Message | ProblemError;

export function serviceOf(door: ApiContext, service: DescService): GrpcService {
  const implementation: UntypedServiceImplementation = {};
  for (const method of service.methods) {
    const rpc = `${service.name}.${method.name}` as RpcName;
    implementation[method.name] = implementationOf(door, rpc, method.methodKind);
  }
  return { definition: withLateRefusal(serviceDefinition(service)), implementation };
}

function implementationOf(door: ApiContext, rpc: RpcName, kind: DescMethod["methodKind"]) {
  if (kind === "unary") return unary(door, rpc);
  return kind === "bidi_streaming" ? bothWays(door, rpc) : streaming(door, rpc);
}

/** grpc-js answers a decoder that throws with INTERNAL; a malformed message is the caller's fault. */
function withLateRefusal(definition: ServiceDefinition): ServiceDefinition {
  const late = (method: MethodDefinition): MethodDefinition => ({
    ...method,
    requestDeserialize: (bytes) => {
      try {
        const message = method.requestDeserialize(bytes);
        return (beyondBounds(message) as unknown as Message | null) ?? message;
      } catch (error) {
        if (error instanceof ProblemError) return error as unknown as Message;
        throw error;
      }
    },
  });
  return Object.fromEntries(Object.entries(definition).map(([name, method]) => [name, late(method)]));
}

const unary =
  (door: ApiContext, rpc: RpcName): handleUnaryCall<Decoded, Message> =>
  (call, callback) => {
    answer(door, rpc, call.request, arrivalOf(call)).then(
      (message) => {
        const metadata = new Metadata();
        metadata.set(LOG_INDEX_HEADER, indexOf(door, message));
        if (door.plane.stale()) metadata.set(STALE_HEADER, "true");
        call.sendMetadata(metadata);
        callback(null, message);
      },
      (error: unknown) => callback(statusOf(problemOf(error))),
    );
  };

async function answer(door: ApiContext, rpc: RpcName, request: Decoded, arrival: Came): Promise<Message> {
  if (request instanceof ProblemError) throw unreadable(door, rpc, request, arrival);
  return invokeUnary(door, rpc, request, arrival);
}

const streaming =
  (door: ApiContext, rpc: RpcName): handleServerStreamingCall<Decoded, Message> =>
  (call) => {
    const { request } = call;
    if (request instanceof ProblemError)
      return void call.emit("error", asError(unreadable(door, rpc, request, arrivalOf(call))));
    const gone = new AbortController();
    call.on("cancelled", () => gone.abort());
    call.on("close", () => gone.abort());
    const metadata = new Metadata();
    metadata.set(LOG_INDEX_HEADER, String(door.plane.view().index));
    call.sendMetadata(metadata);
    const source = invokeStream(door, rpc, request, { ...arrivalOf(call), signal: gone.signal });
    void pump({ door, rpc, gone: gone.signal }, call, source);
  };

const bothWays =
  (door: ApiContext, rpc: RpcName): handleBidiStreamingCall<Decoded, Message> =>
  (call) => {
    const gone = new AbortController();
    call.on("cancelled", () => gone.abort());
    call.on("close", () => gone.abort());
    const source = invokeStream(door, rpc, requestsOf(call), { ...arrivalOf(call), signal: gone.signal });
    void pump({ door, rpc, gone: gone.signal }, call, source);
  };

async function* requestsOf(call: ServerDuplexStream<Decoded, Message>): AsyncGenerator<Message> {
  // The default iterator destroys the stream at the end of the input, and with it the answer.
  const requests: AsyncIterable<Decoded> = call.iterator({ destroyOnReturn: false });
  for await (const request of requests) {
    if (request instanceof ProblemError) throw request;
    yield request;
  }
}

type Outlet = ServerWritableStream<Decoded, Message> | ServerDuplexStream<Decoded, Message>;

/** At the client's pace: the source is not asked for more until the last message was taken. */
async function pump(
  { door, rpc, gone }: { readonly door: ApiContext; readonly rpc: RpcName; readonly gone: AbortSignal },
  call: Outlet,
  source: AsyncGenerator<Item>,
): Promise<void> {
  try {
    for await (const item of source) {
      for (const message of messagesOf(item)) {
        if (gone.aborted) return;
        if (!call.write(message) && !gone.aborted) await drained(call, door.config.rateLimits.stalledStreamTimeout);
      }
    }
    call.end();
  } catch (error) {
    if (problemOf(error).code === "stream_stalled") streamStalled(door, rpc);
    if (!gone.aborted) call.emit("error", asError(error));
  }
}

/** grpc-js ends a stream with the code, details and trailer of an error that is emitted on it. */
const asError = (error: unknown): Error => {
  const status = statusOf(problemOf(error));
  return Object.assign(new Error(status.details), status);
};

/** The error itself, written down. */
function unreadable(door: ApiContext, rpc: RpcName, error: ProblemError, { headers, from }: Came): ProblemError {
  void refusedEarly(door, { error, code: error.problem.code, from, headers, rpc });
  return error;
}

type Came = RequestMeta & { readonly from: From };

function arrivalOf(call: CertifiedCall & { readonly metadata: Metadata; getPeer(): string }): Came {
  const { metadata } = call;
  const header = (name: string): string | undefined => {
    const value = metadata.get(name)[0];
    return typeof value === "string" ? value : undefined;
  };
  return {
    headers: Object.assign(header, { certificate: () => certificateOf(call) }),
    from: { door: "grpc", remote: call.getPeer() },
    minIndex: header(MIN_INDEX_HEADER),
    consistent: header("x-lattice-consistent") === "true",
    warnings: [],
  };
}
