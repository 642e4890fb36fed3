// During a simulation, any use of real time or randomness throws. The simulation takes what it needs of the event loop
// beforehand.

const realSetImmediate = setImmediate;

/** Interval of real turns, in which the platform handles signals and unhandled rejections. */
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
  /** The called function, with the first stack. */
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
