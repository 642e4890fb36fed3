// Refusals that the gRPC library makes by itself, before any handler: a message over the limit, or
// one that cannot be decompressed. They leave as bare statuses; here they get their problem, so
// that they read the same as over REST.

import { type ServerInterceptingCall, type ServerInterceptor, status } from "@grpc/grpc-js";
import { problem } from "@lattice/wire";
import type { Door } from "../invoke.ts";
import { MAX_BODY_BYTES } from "../limits/limits.ts";
import { refusedEarly } from "../refused-early.ts";
import { statusOf } from "./status.ts";

export const explainRefusals =
  (door: Door): ServerInterceptor =>
  (method, call) => {
    const send = call.sendStatus.bind(call);
    // The library refuses on the innermost call, which no interceptor above it gets to see.
    call.sendStatus = (outcome) => {
      // Our own statuses bring their trailer along.
      if (outcome.code !== status.RESOURCE_EXHAUSTED || outcome.metadata != null) return send(outcome);
      const what = problem("body_too_large", { detail: `The body is larger than ${MAX_BODY_BYTES} bytes.` });
      const from = { door: "grpc", path: method.path, remote: call.getPeer() } as const;
      void refusedEarly(door, { error: what, code: what.code, from, headers: null });
      send(statusOf(what));
    };
    // Handed on as it is: nothing else is intercepted, and a layer of its own would cost every call.
    return call as unknown as ServerInterceptingCall;
  };
