// Problems as gRPC statuses. The whole problem rides in the trailer, so a gRPC caller sees the same
// code, fields and hint as a REST caller.

import { Metadata, type StatusObject } from "@grpc/grpc-js";
import { GRPC_DETAILS_TRAILER, type Problem, problemToGrpc } from "@lattice/wire";

export function statusOf(what: Problem): Pick<StatusObject, "code" | "details" | "metadata"> {
  const { code, message, detailsBin } = problemToGrpc(what);
  const metadata = new Metadata();
  metadata.set(GRPC_DETAILS_TRAILER, Buffer.from(detailsBin));
  return { code, details: message, metadata };
}
