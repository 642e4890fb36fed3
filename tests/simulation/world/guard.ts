// While a simulation runs, nothing in it may ask the real world for time or chance: each of these
// throws. What the simulation itself needs of the event loop is taken before.

const realSetImmediate = setImmediate;

/** Turns between two that let the platform see to signals and to rejections that nobody handled. */
const BREATHE_EVERY = 128;
let turns = 0;

/** Resolves when every microtask has run: ticks come after the last of them, and cost a fraction of a real turn. */
export const turn = (): Promise<void> =>
  new Promise((resolve) => {
    turns += 1;
    if (turns % BREATHE_EVERY === 0) realSetImmediate(resolve);
    else process.nextTick(resolve);
  });

export interface Guard {
  /** What was asked for, with the stack of the first who did. */
  offences(): readonly string[];
  lift(): void;
}

export function forbidRealTime(): Guard {
  const offences: string[] = [];
  const forbid = (what: string) => () => {
    const error = new Error(`simulated code asked the real world: ${what}`);
    offences.push(error.stack ?? error.message);
    throw error;
  };
  const real = {
    now: Date.now,
    random: Math.random,
    setTimeout: globalThis.setTimeout,
    setInterval: globalThis.setInterval,
    setImmediate: globalThis.setImmediate,
  };
  Date.now = forbid("Date.now");
  Math.random = forbid("Math.random");
  Object.assign(globalThis, {
    setTimeout: forbid("setTimeout"),
    setInterval: forbid("setInterval"),
    setImmediate: forbid("setImmediate"),
  });
  return {
    offences: () => offences,
    lift() {
      Date.now = real.now;
      Math.random = real.random;
      const { setTimeout, setInterval, setImmediate } = real;
      Object.assign(globalThis, { setTimeout, setInterval, setImmediate });
    },
  };
}
