// A signal that also fires when time is up. `AbortSignal.any([signal, AbortSignal.timeout(ms)])` says the same, but Node
// forgets such a timeout whenever memory is tidied before it fires: whoever waits would then wait for ever.

export function withDeadline(signal: AbortSignal, ms: number): AbortSignal {
  const late = new AbortController();
  const end = (): void => late.abort(new DOMException(`not done within ${ms} ms`, "TimeoutError"));
  // The timer holds on to the controller. Where there are processes: one that has nothing else to do may end.
  const timer = setTimeout(end, ms) as number | { unref(): void };
  if (typeof timer === "object") timer.unref();
  return AbortSignal.any([signal, late.signal]);
}
