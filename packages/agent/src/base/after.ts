// The timer interface of the agent. Everything in a node that waits takes an `After`, never `setTimeout`, so that a
// node can run on virtual time.

/** Calls back once after this many milliseconds; the returned function cancels. */
export type After = (waitMs: number, callback: () => void) => () => void;

export const systemAfter: After = (waitMs, callback) => {
  const timer = setTimeout(callback, waitMs);
  return () => clearTimeout(timer);
};

/** Resolves with `task`, or after the timeout. */
export async function within(after: After, limitMs: number, task: Promise<unknown>): Promise<void> {
  let cancel = (): void => undefined;
  const late = new Promise<void>((resolve) => {
    cancel = after(limitMs, resolve);
  });
  await Promise.race([task, late]).finally(cancel);
}
