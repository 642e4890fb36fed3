// A client of the gRPC interface, with messages as JSON in proto field names.
import { create } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError, type StatusObject, status } from "@grpc/grpc-js";
import {
  fromJson,
  GRPC_DETAILS_TRAILER,
  type Problem,
  pb,
  problemFromGrpc,
  serviceDefinition,
  toJson,
} from "@lattice/wire";
import type { Json } from "./rest.ts";

const services = {
  AllocationService: { desc: pb.AllocationService, definition: serviceDefinition(pb.AllocationService) },
  NodeService: { desc: pb.NodeService, definition: serviceDefinition(pb.NodeService) },
  AdminService: { desc: pb.AdminService, definition: serviceDefinition(pb.AdminService) },
  PeerService: { desc: pb.PeerService, definition: serviceDefinition(pb.PeerService) },
};
export type ServiceName = keyof typeof services;

export type GrpcAnswer =
  | { readonly ok: true; readonly body: Json }
  | { readonly ok: false; readonly code: number; readonly problem: Problem };

const CALL_WITHIN_MS = 60_000;

export interface GrpcClient {
  call(service: ServiceName, method: string, request: Json): Promise<GrpcAnswer>;
  /** Sends the bytes unchanged, well formed or not. */
  callRaw(service: ServiceName, method: string, bytes: Uint8Array): Promise<GrpcAnswer>;
  /** Starts any call, also a streaming one, with an empty message. Returns its name and status, such as "Propose: OK". */
  begin(service: ServiceName, method: string): Promise<string>;
  watch(request: Json): GrpcStream;
  close(): void;
}

export interface GrpcStream {
  next(): Promise<Json>;
  readonly failed: Promise<StatusObject>;
  cancel(): void;
}

export function grpcClient(address: string): GrpcClient {
  const client = new Client(address, credentials.createInsecure(), { "grpc.max_send_message_length": -1 });
  const methodOf = (service: ServiceName, method: string) => {
    const definition = services[service].definition[method];
    const desc = services[service].desc.methods.find((candidate) => candidate.name === method);
    if (definition === undefined || desc === undefined) throw new Error(`no method ${service}/${method}`);
    return { definition, desc };
  };
  const callRaw: GrpcClient["callRaw"] = (service, method, bytes) => {
    const { definition, desc } = methodOf(service, method);
    return new Promise((resolve) => {
      client.makeUnaryRequest(
        definition.path,
        (value: Uint8Array) => Buffer.from(value),
        (answer: Buffer) => definition.responseDeserialize(answer),
        bytes,
        new Metadata(),
        { deadline: Date.now() + CALL_WITHIN_MS },
        (error: ServiceError | null, answer) => {
          if (error !== null) resolve({ ok: false, code: error.code, problem: problemOf(error) });
          else if (answer !== undefined) resolve({ ok: true, body: toJson(desc.output, answer) as Json });
        },
      );
    });
  };
  return {
    callRaw,
    call: (service, method, request) => {
      const { definition, desc } = methodOf(service, method);
      return callRaw(service, method, definition.requestSerialize(fromJson(desc.input, request)));
    },
    begin: (service, method) => {
      const { definition, desc } = methodOf(service, method);
      const deadline = Date.now() + CALL_WITHIN_MS;
      const { path, requestSerialize, responseDeserialize } = definition;
      const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, { deadline });
      call.on("error", () => undefined).resume();
      call.write(create(desc.input));
      call.end();
      return new Promise((resolve) => call.on("status", ({ code }) => resolve(`${method}: ${status[code]}`)));
    },
    watch: (request) => {
      const { definition, desc } = methodOf("AllocationService", "Watch");
      const stream = client.makeServerStreamRequest(
        definition.path,
        definition.requestSerialize,
        (bytes: Buffer) => definition.responseDeserialize(bytes),
        fromJson(desc.input, request),
        new Metadata(),
      );
      const failed = new Promise<StatusObject>((resolve) => stream.on("error", (error) => resolve(error as never)));
      const items = stream[Symbol.asyncIterator]();
      return {
        failed,
        cancel: () => stream.cancel(),
        next: async () => {
          const { value } = await items.next();
          return toJson(desc.output, value) as Json;
        },
      };
    },
    close: () => client.close(),
  };
}

function problemOf(error: ServiceError): Problem {
  const trailer = error.metadata.get(GRPC_DETAILS_TRAILER)[0];
  const detailsBin = typeof trailer === "string" ? undefined : trailer;
  return problemFromGrpc({ code: error.code, message: error.details, detailsBin });
}
