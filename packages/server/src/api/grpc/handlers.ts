// The services of the contract for grpc-js: each method reads its metadata, calls
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
import type { RpcName } from "../call/rpc.ts";
import { logEarlyRefusal } from "../invoke/early-refusal.ts";
import {
  type ApiContext,
  answerHeaders,
  type Item,
  indexOf,
  invokeStream,
  invokeUnary,
  MIN_INDEX_HEADER,
  messagesOf,
  type RequestMeta,
  STALE_HEADER,
  streamStalled,
} from "../invoke/invoke.ts";
import { drained } from "../streams/drained.ts";
import { boundsViolation } from "./message-bounds.ts";

/** The result of the decoder: a message, or the problem with it. */
type Decoded = Message | ProblemError;

export function serviceOf(api: ApiContext, service: DescService): GrpcService {
  const implementation: UntypedServiceImplementation = {};
  for (const method of service.methods) {
    const rpc = `${service.name}.${method.name}` as RpcName;
    implementation[method.name] = implementationOf(api, rpc, method.methodKind);
  }
  return { definition: withLateRefusal(serviceDefinition(service)), implementation };
}

function implementationOf(api: ApiContext, rpc: RpcName, kind: DescMethod["methodKind"]) {
  if (kind === "unary") return unary(api, rpc);
  return kind === "bidi_streaming" ? bothWays(api, rpc) : streaming(api, rpc);
}

/** grpc-js answers a decoder that throws with INTERNAL; a malformed message is the caller's fault. */
function withLateRefusal(definition: ServiceDefinition): ServiceDefinition {
  const late = (method: MethodDefinition): MethodDefinition => ({
    ...method,
    requestDeserialize: (bytes) => {
      try {
        const message = method.requestDeserialize(bytes);
        return (boundsViolation(message) as unknown as Message | null) ?? message;
      } catch (error) {
        if (error instanceof ProblemError) return error as unknown as Message;
        throw error;
      }
    },
  });
  return Object.fromEntries(Object.entries(definition).map(([name, method]) => [name, late(method)]));
}

const unary =
  (api: ApiContext, rpc: RpcName): handleUnaryCall<Decoded, Message> =>
  (call, callback) => {
    answer(api, rpc, call.request, arrivalOf(call)).then(
      (message) => {
        const metadata = answerMetadata(api, indexOf(api, message));
        if (api.plane.stale()) metadata.set(STALE_HEADER, "true");
        call.sendMetadata(metadata);
        callback(null, message);
      },
      (error: unknown) => callback(statusOf(problemOf(error))),
    );
  };

function answerMetadata(api: ApiContext, index: string): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(answerHeaders(api, index))) metadata.set(name, value);
  return metadata;
}

async function answer(api: ApiContext, rpc: RpcName, request: Decoded, arrival: Arrival): Promise<Message> {
  if (request instanceof ProblemError) throw unreadable(api, rpc, request, arrival);
  return invokeUnary(api, rpc, request, arrival);
}

const streaming =
  (api: ApiContext, rpc: RpcName): handleServerStreamingCall<Decoded, Message> =>
  (call) => {
    const { request } = call;
    if (request instanceof ProblemError)
      return void call.emit("error", asError(unreadable(api, rpc, request, arrivalOf(call))));
    const gone = new AbortController();
    call.on("cancelled", () => gone.abort());
    call.on("close", () => gone.abort());
    call.sendMetadata(answerMetadata(api, String(api.plane.view().index)));
    const source = invokeStream(api, rpc, request, { ...arrivalOf(call), signal: gone.signal });
    void pump({ api, rpc, gone: gone.signal }, call, source);
  };

const bothWays =
  (api: ApiContext, rpc: RpcName): handleBidiStreamingCall<Decoded, Message> =>
  (call) => {
    const gone = new AbortController();
    call.on("cancelled", () => gone.abort());
    call.on("close", () => gone.abort());
    const source = invokeStream(api, rpc, requestsOf(call), { ...arrivalOf(call), signal: gone.signal });
    void pump({ api, rpc, gone: gone.signal }, call, source);
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

/** Writes at the client's pace: the source is read again when the last message is written. */
async function pump(
  { api, rpc, gone }: { readonly api: ApiContext; readonly rpc: RpcName; readonly gone: AbortSignal },
  call: Outlet,
  source: AsyncGenerator<Item>,
): Promise<void> {
  try {
    for await (const item of source) {
      for (const message of messagesOf(item)) {
        if (gone.aborted) return;
        if (!call.write(message) && !gone.aborted) await drained(call, api.config.rateLimits.stalledStreamTimeout);
      }
    }
    call.end();
  } catch (error) {
    if (problemOf(error).code === "stream_stalled") streamStalled(api, rpc);
    if (!gone.aborted) call.emit("error", asError(error));
  }
}

/** grpc-js ends a stream with the code, details and trailer of an error that is emitted on it. */
const asError = (error: unknown): Error => {
  const status = statusOf(problemOf(error));
  return Object.assign(new Error(status.details), status);
};

/** Logs the refusal and returns the error. */
function unreadable(api: ApiContext, rpc: RpcName, error: ProblemError, { headers, from }: Arrival): ProblemError {
  void logEarlyRefusal(api, { error, code: error.problem.code, from, headers, rpc });
  return error;
}

type Arrival = RequestMeta & { readonly from: From };

function arrivalOf(call: CertifiedCall & { readonly metadata: Metadata; getPeer(): string }): Arrival {
  const { metadata } = call;
  const header = (name: string): string | undefined => {
    const value = metadata.get(name)[0];
    return typeof value === "string" ? value : undefined;
  };
  return {
    headers: Object.assign(header, { certificate: () => certificateOf(call) }),
    from: { interface: "grpc", remote: call.getPeer() },
    minIndex: header(MIN_INDEX_HEADER),
    consistent: header("x-lattice-consistent") === "true",
    warnings: [],
  };
}
