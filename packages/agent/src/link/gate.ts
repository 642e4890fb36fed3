// Limits how many nodes of one process greet servers at the same time. Thousands of hollow nodes greeting together
// would all run into their timeouts; behind the gate each is served at the server's pace.

export interface GreetingGate {
  /** Calls `go` when there is room; `go` must call its argument when it is done. */
  enter(go: (leave: () => void) => void): void;
}

/** Enough to keep a server busy without a queue. */
const GREETING_AT_ONCE = 128;

export function gate(room: number = GREETING_AT_ONCE): GreetingGate {
  const waiting: (() => void)[] = [];
  let inside = 0;

  function admit(go: (leave: () => void) => void): void {
    inside += 1;
    let left = false;
    go(() => {
      if (left) return;
      left = true;
      inside -= 1;
      waiting.shift()?.();
    });
  }

  return {
    enter(go) {
      if (inside < room) admit(go);
      else waiting.push(() => admit(go));
    },
  };
}
