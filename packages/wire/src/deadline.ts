// A signal that also fires at a deadline. `AbortSignal.any([signal, AbortSignal.timeout(ms)])` is not reliable: Node may
// garbage-collect the timeout before it fires, and the caller would wait forever.

export function withDeadline(signal: AbortSignal, ms: number): AbortSignal {
  const late = new AbortController();
  const end = (): void => late.abort(new DOMException(`not done within ${ms} ms`, "TimeoutError"));
  // The timer keeps the controller reachable. In Node it is unreferenced, so that it does not keep an idle process
  // alive.
  const timer = setTimeout(end, ms) as number | { unref(): void };
  if (typeof timer === "object") timer.unref();
  return AbortSignal.any([signal, late.signal]);
}
