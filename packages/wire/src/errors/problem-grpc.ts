// Converts problems to a gRPC status and back. The complete problem is a lattice.v1.Problem inside the
// google.rpc.Status of the `grpc-status-details-bin` trailer, so that gRPC and REST callers get the same code, fields
// and hint.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Any, anyPack, anyUnpack } from "@bufbuild/protobuf/wkt";
import { RetryInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../gen/google/rpc/status_pb.ts";
import { ProblemSchema } from "../../gen/lattice/v1/problem_pb.ts";
import { ERRORS, type ErrorCode, isErrorCode } from "./catalogue.ts";
import { type Problem, problem } from "./problem.ts";

/** Name of the trailer that holds `detailsBin`. */
export const GRPC_DETAILS_TRAILER = "grpc-status-details-bin";

interface GrpcProblem {
  readonly code: number;
  readonly message: string;
  readonly detailsBin: Uint8Array;
}

export function problemToGrpc(p: Problem): GrpcProblem {
  const code = ERRORS[p.code].grpc;
  const detail = create(ProblemSchema, {
    code: p.code,
    title: p.title,
    status: p.status,
    detail: p.detail,
    hint: p.hint,
    retryable: p.retryable,
    fields: p.fields.map(({ field, detail, hint = "" }) => ({ field, detail, hint })),
    values: { ...p.values },
    retryAfterSeconds: p.retryAfterSeconds ?? 0,
  });
  const details = [anyPack(ProblemSchema, detail), ...retryInfo(p)];
  const status = create(StatusSchema, { code, message: p.detail, details });
  return { code, message: p.detail, detailsBin: toBinary(StatusSchema, status) };
}

/** Standard gRPC retry information. A rate-limited caller always receives a delay. */
function retryInfo({ status, retryAfterSeconds = status === 429 ? 1 : undefined }: Problem): Any[] {
  if (retryAfterSeconds === undefined) return [];
  const retryDelay = { seconds: BigInt(retryAfterSeconds), nanos: 0 };
  return [anyPack(RetryInfoSchema, create(RetryInfoSchema, { retryDelay }))];
}

export function problemFromGrpc(status: {
  readonly code: number;
  readonly message: string;
  readonly detailsBin?: Uint8Array | undefined;
}): Problem {
  return detailOf(status.detailsBin) ?? problem(codeOfGrpc(status.code), { detail: status.message });
}

function detailOf(bytes: Uint8Array | undefined): Problem | null {
  if (bytes === undefined) return null;
  try {
    for (const any of fromBinary(StatusSchema, bytes).details) {
      const found = anyUnpack(any, ProblemSchema);
      if (found === undefined) continue;
      const code = isErrorCode(found.code) ? found.code : codeOfGrpc(2);
      const fields = found.fields.map(({ field, detail, hint }) => ({
        field,
        detail,
        ...(hint === "" ? {} : { hint }),
      }));
      const values = Object.keys(found.values).length === 0 ? {} : { values: { ...found.values } };
      const after = found.retryAfterSeconds === 0 ? {} : { retryAfterSeconds: found.retryAfterSeconds };
      return {
        ...problem(code, { detail: found.detail, hint: found.hint, fields, ...values, ...after }),
        retryable: found.retryable,
      };
    }
  } catch {
    // The trailer may come from a third party; if it is unreadable, the plain status is used.
  }
  return null;
}

const BY_GRPC: Readonly<Record<number, ErrorCode>> = {
  3: "invalid_argument",
  4: "deadline_exceeded",
  5: "not_found",
  6: "already_exists",
  7: "forbidden",
  8: "rate_limited",
  9: "illegal_transition",
  10: "conflict",
  11: "cursor_gone",
  12: "unsupported_feature",
  14: "connection_failed",
  16: "unauthenticated",
};
const codeOfGrpc = (code: number): ErrorCode => BY_GRPC[code] ?? "internal";
