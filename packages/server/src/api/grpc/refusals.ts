// Refusals that the gRPC library makes by itself, before any handler: a message over the limit, or
// one that cannot be decompressed. They leave as bare statuses; here they get their problem, so
// that they read the same as over REST.

import { type ServerInterceptingCall, type ServerInterceptor, status } from "@grpc/grpc-js";
import { problem } from "@lattice/wire";
import { MAX_BODY_BYTES } from "../limits/limits.ts";
import { statusOf } from "./status.ts";

export const explainRefusals: ServerInterceptor = (_method, call) => {
  const send = call.sendStatus.bind(call);
  // The library refuses on the innermost call, which no interceptor above it gets to see.
  call.sendStatus = (outcome) => {
    // Our own statuses bring their trailer along.
    if (outcome.code !== status.RESOURCE_EXHAUSTED || outcome.metadata != null) return send(outcome);
    send(statusOf(problem("body_too_large", { detail: `The body is larger than ${MAX_BODY_BYTES} bytes.` })));
  };
  // Handed on as it is: nothing else is intercepted, and a layer of its own would cost every call.
  return call as unknown as ServerInterceptingCall;
};
