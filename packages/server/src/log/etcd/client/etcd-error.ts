// Errors of etcd, classified by what a caller can do about them. `unavailable` covers everything that a network, a
// stopped member or a change of etcd's leader may cause; the request may or may not have taken effect.

import { type ServiceError, status } from "@grpc/grpc-js";

type EtcdErrorKind =
  | "unavailable" // no answer; a write may or may not have happened
  | "no_space" // the database is at its quota; nothing was written
  | "too_large" // the request, or the answer, is over a limit
  | "compacted" // the requested revision is gone
  | "not_found" // for example a lease that has ended
  | "busy" // another member is being added; trying again works once it has caught up
  | "refused"; // etcd rejected the request

export class EtcdError extends Error {
  readonly kind: EtcdErrorKind;
  constructor(kind: EtcdErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "EtcdError";
    this.kind = kind;
  }
}

export function etcdError(cause: ServiceError, endpoint: string): EtcdError {
  const text = cause.details === "" ? cause.message : cause.details;
  return new EtcdError(kindOf(cause, text), `etcd at ${endpoint}: ${text}`, { cause });
}

function kindOf(cause: ServiceError, text: string): EtcdErrorKind {
  switch (cause.code) {
    case status.RESOURCE_EXHAUSTED:
      if (text.includes("space exceeded")) return "no_space";
      return text.includes("larger than max") ? "too_large" : "unavailable";
    case status.INVALID_ARGUMENT:
      return text.includes("too large") ? "too_large" : "refused";
    case status.OUT_OF_RANGE:
      return "compacted";
    case status.NOT_FOUND:
      return "not_found";
    case status.UNAVAILABLE:
    case status.DEADLINE_EXCEEDED:
    case status.CANCELLED:
    case status.INTERNAL:
    case status.UNKNOWN:
    case status.ABORTED:
      return "unavailable";
    default:
      return "refused";
  }
}
