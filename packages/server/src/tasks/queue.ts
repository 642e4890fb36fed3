// Events of a launch on their way to its caller, in order, for one reader at a time.

import type { pb } from "@lattice/wire";
import type { Member } from "./member.ts";

export interface Queued {
  readonly event: pb.LaunchTasksResponse["event"];
  /** Absent: it is nobody's report, or was told before. */
  readonly member?: Member;
  readonly number?: number;
}

export interface EventQueue {
  add(queued: Queued): void;
  next(): Queued | undefined;
  clear(): void;
  /** Resolves when there may be more, or somebody is to look. */
  more(signal: AbortSignal): Promise<void>;
  wake(): void;
}

export function eventQueue(): EventQueue {
  let queued: Queued[] = [];
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    const all = waiting;
    waiting = [];
    for (const go of all) go();
  };
  return {
    add(one) {
      queued.push(one);
      wake();
    },
    next: () => queued.shift(),
    clear() {
      queued = [];
    },
    more: (signal) =>
      new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (signal.aborted) resolve();
      }),
    wake,
  };
}
