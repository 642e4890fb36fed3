// Converts service descriptors to the definitions of @grpc/grpc-js without importing it, because this package also runs
// in browsers. Where the platform has Buffer, serialisers return Buffers, as grpc-js needs.

import { type DescMessage, type DescService, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { ProblemError } from "../errors/problem.ts";

/** `Buffer` in a program that is compiled for Node, else `Uint8Array`. */
type OutBytes = typeof globalThis extends { Buffer: { alloc(size: number): infer B extends Uint8Array } }
  ? B
  : Uint8Array;

export interface MethodDefinition {
  readonly path: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
  readonly originalName: string;
  readonly requestSerialize: (message: Message) => OutBytes;
  readonly requestDeserialize: (bytes: Uint8Array) => Message;
  readonly responseSerialize: (message: Message) => OutBytes;
  readonly responseDeserialize: (bytes: Uint8Array) => Message;
}

/** Keyed by RPC name ("Submit"); `originalName` is the lower-case spelling ("submit"). */
export type ServiceDefinition = Readonly<Record<string, MethodDefinition>>;

export function serviceDefinition(service: DescService): ServiceDefinition {
  return Object.fromEntries(
    service.methods.map((method): [string, MethodDefinition] => {
      const { methodKind, input, output } = method;
      return [
        method.name,
        {
          path: `/${service.typeName}/${method.name}`,
          requestStream: methodKind === "client_streaming" || methodKind === "bidi_streaming",
          responseStream: methodKind === "server_streaming" || methodKind === "bidi_streaming",
          originalName: method.localName,
          requestSerialize: serialiser(input),
          requestDeserialize: deserialiser(input),
          responseSerialize: serialiser(output),
          responseDeserialize: deserialiser(output),
        },
      ];
    }),
  );
}

const serialiser =
  (schema: DescMessage) =>
  (message: Message): OutBytes =>
    asBuffer(toBinary(schema, message));

const deserialiser = (schema: DescMessage) => (bytes: Uint8Array) => {
  try {
    return fromBinary(schema, bytes);
  } catch (cause) {
    throw new ProblemError("malformed_body", {
      detail: `the message is not a valid ${schema.typeName}: ${cause instanceof Error ? cause.message : cause}`,
      hint: "Send it with a client generated from proto/lattice/v1.",
      cause,
    });
  }
};

interface BufferMaker {
  from(data: ArrayBufferLike, offset: number, length: number): OutBytes;
}

function asBuffer(bytes: Uint8Array): OutBytes {
  const maker = (globalThis as { Buffer?: BufferMaker }).Buffer;
  return maker === undefined ? (bytes as OutBytes) : maker.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
