// Waiting until a client has taken what it was given. A client that takes nothing for too long is not waited
// for any more: its place, and whatever the source of its stream holds, are wanted by others.

import { ProblemError } from "@lattice/wire";

/** What an outlet of either door offers. */
export interface Outlet {
  on(event: "drain" | "close", listener: () => void): unknown;
  off(event: "drain" | "close", listener: () => void): unknown;
}

/** Resolves when it drained or closed; rejects with `stream_stalled` after `patienceMs`. */
export function drained(outlet: Outlet, patienceMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (how: () => void) => () => {
      clearTimeout(timer);
      outlet.off("drain", done);
      outlet.off("close", done);
      how();
    };
    const done = settle(resolve);
    const timer = setTimeout(
      settle(() => reject(stalled(patienceMs))),
      patienceMs,
    );
    outlet.on("drain", done);
    outlet.on("close", done);
  });
}

const stalled = (patienceMs: number): ProblemError =>
  new ProblemError("stream_stalled", { detail: `Nothing of the stream was read for ${patienceMs / 1_000} s.` });
