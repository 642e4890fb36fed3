// Waits until a client has read what was written. A client that reads nothing for too long is disconnected, so that its
// slot and the resources of its stream become free.

import { ProblemError } from "@lattice/wire";

/** The writable side of a REST or gRPC stream. */
interface Outlet {
  on(event: "drain" | "close", listener: () => void): unknown;
  off(event: "drain" | "close", listener: () => void): unknown;
}

/** Resolves when it drained or closed; rejects with `stream_stalled` after `timeoutMs`. */
export function drained(outlet: Outlet, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (how: () => void) => () => {
      clearTimeout(timer);
      outlet.off("drain", done);
      outlet.off("close", done);
      how();
    };
    const done = settle(resolve);
    const timer = setTimeout(
      settle(() => reject(stalled(timeoutMs))),
      timeoutMs,
    );
    outlet.on("drain", done);
    outlet.on("close", done);
  });
}

const stalled = (timeoutMs: number): ProblemError =>
  new ProblemError("stream_stalled", { detail: `The client has not read the stream for ${timeoutMs / 1_000} s.` });
