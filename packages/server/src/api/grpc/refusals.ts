// Refusals that the gRPC library makes by itself, before any handler: a message over the limit, or
// one that cannot be decompressed. They leave as bare statuses; here they get their problem, so
// that they read the same as over REST. Also where calls are refused whose message does not come.

import { constants, type Http2Stream } from "node:http2";
import { type ServerInterceptingCall, type ServerInterceptor, status } from "@grpc/grpc-js";
import { type Problem, problem } from "@lattice/wire";
import { statusOf } from "../../base/grpc/status.ts";
import type { ApiContext } from "../invoke.ts";
import { MAX_BODY_BYTES } from "../limits/limits.ts";
import { refusedEarly } from "../refused-early.ts";
import type { SlowCalls } from "./slow-calls.ts";

/** `timed`: whether a call of this path has to send its first message in time. */
export function explainRefusals(
  door: ApiContext,
  slow: SlowCalls,
  timed: (path: string) => boolean,
): ServerInterceptor {
  return ({ path }, call) => {
    const send = call.sendStatus.bind(call);
    const refuse = (what: Problem): void => {
      const from = { door: "grpc", path, remote: call.getPeer() } as const;
      void refusedEarly(door, { error: what, code: what.code, from, headers: null });
      send(statusOf(what));
      letGo(call);
    };
    // The library refuses on the innermost call, which no interceptor above it gets to see.
    call.sendStatus = (outcome) => {
      // Our own statuses bring their trailer along.
      if (outcome.code !== status.RESOURCE_EXHAUSTED || outcome.metadata != null) return send(outcome);
      refuse(problem("body_too_large", { detail: `The body is larger than ${MAX_BODY_BYTES} bytes.` }));
    };
    if (timed(path)) expectMessage(call, slow, refuse);
    // Handed on as it is: nothing else is intercepted, and a layer of its own would cost every call.
    return call as unknown as ServerInterceptingCall;
  };
}

/** The caller may continue to send; the messages are discarded. */
function letGo(call: Call): void {
  const { stream } = call as unknown as { readonly stream?: Pick<Http2Stream, "close"> };
  stream?.close(constants.NGHTTP2_NO_ERROR);
}

type Call = Parameters<ServerInterceptor>[1];

function expectMessage(call: Call, slow: SlowCalls, refuse: (what: Problem) => void): void {
  const start = call.start.bind(call);
  call.start = (listener) => {
    const came = slow.begin(() =>
      refuse(problem("deadline_exceeded", { detail: "The request did not come in time." })),
    );
    const receive = listener.onReceiveMessage.bind(listener);
    listener.onReceiveMessage = (message) => {
      came();
      receive(message);
    };
    const cancel = listener.onCancel.bind(listener);
    listener.onCancel = () => {
      came();
      cancel();
    };
    start(listener);
  };
}
