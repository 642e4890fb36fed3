// Events of a launch on their way to its caller, in order, for one reader at a time.

import type { CallerEvent } from "./launch-state.ts";

export class EventQueue {
  #events: CallerEvent[] = [];
  #waiting: (() => void)[] = [];

  add(event: CallerEvent): void {
    this.#events.push(event);
    this.wake();
  }

  next(): CallerEvent | undefined {
    return this.#events.shift();
  }

  clear(): void {
    this.#events = [];
  }

  /** Resolves when there may be an event, or the reader should check whether it still reads. */
  more(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (signal.aborted) resolve();
    });
  }

  wake(): void {
    const all = this.#waiting;
    this.#waiting = [];
    for (const resolve of all) resolve();
  }
}
