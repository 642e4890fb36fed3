// Finite streams, such as the events of one allocation: reopens a stream that is interrupted or whose token expired, with
// growing pauses. The caller keeps the position.

import type { Caller, CallOptions } from "./call.ts";
import { errorFromAnswer, LatticeError } from "./error.ts";
import { backoffMs, DEFAULT_RETRY, sleep } from "./retry.ts";
import { parseEvents } from "./sse.ts";
import { hasLapsed } from "./token.ts";

/** The server sends a comment at least this often; silence beyond it means a dead connection. */
const SILENCE_LIMIT_MS = 60_000;

/** Failed attempts in a row. A server that restarts or fails over is back well before. */
const MAX_RECONNECTS = 20;

/** Calls `path` before each try, so that it can include the position. */
export async function* eventsUntilEnd<T>(caller: Caller, path: () => string, options: CallOptions): AsyncGenerator<T> {
  let opened = false;
  for (let failures = 0; ; ) {
    try {
      const call = { method: "GET", path: path(), headers: { accept: "text/event-stream" } } as const;
      const response = await caller.open(call, { ...options, idleTimeoutMs: SILENCE_LIMIT_MS });
      opened = true;
      for await (const { event, data } of parseEvents(response.body)) {
        if (event === "problem") throw errorFromAnswer(0, data);
        failures = 0;
        yield JSON.parse(data) as T;
      }
      return;
    } catch (error) {
      const passes = hasLapsed(error) || (error instanceof LatticeError && error.problem.retryable);
      if (!opened || options.signal?.aborted === true || failures >= MAX_RECONNECTS || !passes) throw error;
    }
    failures += 1;
    await sleep(backoffMs(DEFAULT_RETRY, failures, Math.random()), options.signal);
  }
}
