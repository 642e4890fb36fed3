// One life of one simulated process: what it waits for comes while it lives and is not paused.
// Killing it drops all of it at once, in the middle of whatever it was doing; what it had asked the
// world for before that may still happen, as it would after a real crash. Pausing holds everything
// back until it goes on.

import type { World } from "./world.ts";

export interface Host {
  readonly name: string;
  /** Aborts when the process dies. */
  readonly dead: AbortSignal;
  alive(): boolean;
  paused(): boolean;
  after(waitMs: number, run: () => void): () => void;
  /** Resolves after that time; never, if the process dies first. */
  wait(waitMs: number): Promise<void>;
  /** Runs now, or when the process goes on; never, if it is dead. */
  deliver(run: () => void): void;
  kill(): void;
  pause(): void;
  resume(): void;
}

export function createHost(world: World, name: string): Host {
  const death = new AbortController();
  let alive = true;
  let paused = false;
  let held: (() => void)[] = [];

  const deliver = (run: () => void): void => {
    if (!alive) return;
    if (paused) held.push(run);
    else run();
  };
  const after = (waitMs: number, run: () => void): (() => void) => {
    let cancelled = false;
    const once = (): void => {
      if (!cancelled) run();
    };
    const cancel = world.after(waitMs, () => deliver(once));
    return () => {
      cancelled = true;
      cancel();
    };
  };

  return {
    name,
    dead: death.signal,
    alive: () => alive,
    paused: () => paused,
    after,
    wait: (waitMs) =>
      new Promise((resolve) => {
        after(waitMs, resolve);
      }),
    deliver,
    kill() {
      alive = false;
      held = [];
      death.abort();
    },
    pause() {
      paused = true;
    },
    resume() {
      if (!paused) return;
      paused = false;
      const now = held;
      held = [];
      // Each in a turn of its own, as they would have come.
      for (const run of now) world.after(0, () => deliver(run));
    },
  };
}
