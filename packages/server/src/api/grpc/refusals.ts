// Adds problems to refusals of the gRPC library, which happen before any handler: a message over the limit, or one that
// cannot be decompressed. The library sends bare statuses; with a problem they read the same as over REST. Calls whose
// first message does not arrive in time are refused here as well.

import { constants, type Http2Stream } from "node:http2";
import { type ServerInterceptingCall, type ServerInterceptor, status } from "@grpc/grpc-js";
import { type Problem, problem } from "@lattice/wire";
import { statusOf } from "../../base/grpc/status.ts";
import { logEarlyRefusal } from "../invoke/early-refusal.ts";
import type { ApiContext } from "../invoke/invoke.ts";
import { MAX_BODY_BYTES } from "../limits/limits.ts";
import type { SlowCalls } from "./slow-calls.ts";

/** `timed`: whether a call of this path must send its first message in time. */
export function explainRefusals(api: ApiContext, slow: SlowCalls, timed: (path: string) => boolean): ServerInterceptor {
  return ({ path }, call) => {
    const send = call.sendStatus.bind(call);
    const refuse = (what: Problem): void => {
      const from = { interface: "grpc", path, remote: call.getPeer() } as const;
      void logEarlyRefusal(api, { error: what, code: what.code, from, headers: null });
      send(statusOf(what));
      closeStream(call);
    };
    // The library refuses on the innermost call, which no outer interceptor sees.
    call.sendStatus = (outcome) => {
      // Statuses of handlers have a trailer.
      if (outcome.code !== status.RESOURCE_EXHAUSTED || outcome.metadata != null) return send(outcome);
      refuse(problem("body_too_large", { detail: `The body is larger than ${MAX_BODY_BYTES} bytes.` }));
    };
    if (timed(path)) expectMessage(call, slow, refuse);
    // Returned unwrapped: nothing else is intercepted, and a wrapper would slow down every call.
    return call as unknown as ServerInterceptingCall;
  };
}

/** The caller may continue to send; the messages are discarded. */
function closeStream(call: Call): void {
  const { stream } = call as unknown as { readonly stream?: Pick<Http2Stream, "close"> };
  stream?.close(constants.NGHTTP2_NO_ERROR);
}

type Call = Parameters<ServerInterceptor>[1];

function expectMessage(call: Call, slow: SlowCalls, refuse: (what: Problem) => void): void {
  const start = call.start.bind(call);
  call.start = (listener) => {
    const received = slow.begin(() =>
      refuse(problem("deadline_exceeded", { detail: "The request did not arrive in time." })),
    );
    const receive = listener.onReceiveMessage.bind(listener);
    listener.onReceiveMessage = (message) => {
      received();
      receive(message);
    };
    const cancel = listener.onCancel.bind(listener);
    listener.onCancel = () => {
      received();
      cancel();
    };
    start(listener);
  };
}
