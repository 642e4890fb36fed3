// One run of one simulated process: its waits resolve while it lives and is not paused. Killing it drops all of them
// at once; effects that it has already requested may still happen, as after a real crash. Pausing delays everything
// until it resumes.

import type { World } from "./world.ts";

export interface Host {
  readonly name: string;
  /** Aborts when the process dies. */
  readonly dead: AbortSignal;
  alive(): boolean;
  paused(): boolean;
  after(waitMs: number, run: () => void): () => void;
  /** Resolves after that time; never if the process dies first. */
  wait(waitMs: number): Promise<void>;
  /** Runs now, or when the process resumes; never if it is dead. */
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
      // Each in its own turn, as they would have arrived.
      for (const run of now) world.after(0, () => deliver(run));
    },
  };
}
