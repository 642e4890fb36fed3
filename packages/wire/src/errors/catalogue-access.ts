// The part of the error catalogue about who may do what, and how often.

import { EXIT, entry, GRPC } from "./catalogue-entry.ts";

export const ACCESS_ERRORS = /* @__PURE__ */ Object.freeze({
  unknown_grant: entry(404, GRPC.notFound, EXIT.unknown, "No such grant", "List them with `lattice admin grant list`."),
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
    "The stream was not read for too long",
    "Open it again from the last position that came, and read it as it comes.",
    true,
  ),
  headers_too_large: entry(
    431,
    GRPC.resourceExhausted,
    EXIT.invalid,
    "The headers are too large",
    "Send fewer or shorter headers; a token has a few kilobytes.",
  ),
  rate_limited: entry(
    429,
    GRPC.resourceExhausted,
    EXIT.limit,
    "Too many requests",
    "Wait as long as the Retry-After header says, then go on more slowly.",
    true,
  ),
  too_many_terminals: entry(
    429,
    GRPC.resourceExhausted,
    EXIT.limit,
    "Too many terminals are open",
    "Close one of them first; an administrator can raise rate_limits.attach_max_concurrent.",
  ),
  unauthenticated: entry(401, GRPC.unauthenticated, EXIT.access, "Not logged in", "Send a valid token."),
  identity_unavailable: entry(
    503,
    GRPC.unavailable,
    EXIT.unavailable,
    "Tokens cannot be checked at present",
    "Try again shortly; the server needs its identity provider.",
    true,
  ),
  forbidden: entry(
    403,
    GRPC.permissionDenied,
    EXIT.access,
    "Not permitted",
    "Ask an administrator of your tenant for the role this needs.",
  ),
});
