// The one call that agents make to each other. It is not part of the servers' API.

import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { ServerDuplexStream } from "@grpc/grpc-js";
import { pb } from "@lattice/wire";

export type FenceStream = ServerDuplexStream<pb.FenceMessage, pb.FenceMessage>;

const write = (message: pb.FenceMessage): Buffer => Buffer.from(toBinary(pb.FenceMessageSchema, message));
const read = (bytes: Buffer): pb.FenceMessage => fromBinary(pb.FenceMessageSchema, bytes);

export const exchangeCall = {
  path: "/lattice.v1.FenceService/Exchange",
  requestStream: true,
  responseStream: true,
  requestSerialize: write,
  requestDeserialize: read,
  responseSerialize: write,
  responseDeserialize: read,
} as const;
