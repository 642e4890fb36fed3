// The part of the error catalogue about authentication, authorization and rate limits.

import { EXIT, entry, GRPC } from "./catalogue-entry.ts";

export const ACCESS_ERRORS = /* @__PURE__ */ Object.freeze({
  unknown_grant: entry(404, GRPC.notFound, EXIT.unknown, "No such grant", "List them with `lattice admin grant list`."),
  unknown_enrolment: entry(
    404,
    GRPC.notFound,
    EXIT.unknown,
    "No such enrolment",
    "List them with `lattice admin enrolment list`.",
  ),
  too_many_streams: entry(
    429,
    GRPC.resourceExhausted,
    EXIT.limit,
    "Too many streams are open",
    "Close one of them first; an administrator can raise the limit in rate_limits.",
  ),
  stream_stalled: entry(
    408,
    GRPC.resourceExhausted,
    EXIT.unavailable,
    "The client stopped reading the stream",
    "Reopen it at the last position received, and read continuously.",
    true,
  ),
  headers_too_large: entry(
    431,
    GRPC.resourceExhausted,
    EXIT.invalid,
    "The headers are too large",
    "Send fewer or shorter headers. A token has a few kilobytes.",
  ),
  rate_limited: entry(
    429,
    GRPC.resourceExhausted,
    EXIT.limit,
    "Too many requests",
    "Wait for the time in the Retry-After header, then send fewer requests.",
    true,
  ),
  too_many_terminals: entry(
    429,
    GRPC.resourceExhausted,
    EXIT.limit,
    "Too many terminals are open",
    "Close one of them first; an administrator can raise rate_limits.attach_max_concurrent.",
  ),
  unauthenticated: entry(
    401,
    GRPC.unauthenticated,
    EXIT.access,
    "Not logged in",
    "Log in with `lattice login`, or send a valid token.",
  ),
  identity_unavailable: entry(
    503,
    GRPC.unavailable,
    EXIT.unavailable,
    "Tokens cannot be verified now",
    "Retry shortly; the server cannot reach its identity provider.",
    true,
  ),
  foreign_cluster: entry(
    409,
    GRPC.failedPrecondition,
    EXIT.conflict,
    "The other side belongs to another cluster",
    "Check the addresses: a server, an agent or a client works with one cluster only.",
  ),
  forbidden: entry(
    403,
    GRPC.permissionDenied,
    EXIT.access,
    "Not permitted",
    "Ask an administrator of your tenant for the role this needs.",
  ),
});
