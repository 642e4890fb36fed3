// Lets only so many nodes of one process greet servers at the same time. Thousands of hollow nodes
// that all said hello at once would all wait longer than they are willing to; behind the gate each
// is served as fast as the server can, and the next comes when one is through.

export interface Gate {
  /** Calls `go` when there is room; it must call what it is given once it is through. */
  enter(go: (leave: () => void) => void): void;
}

/** Keeps a server busy without making a queue of it. */
export const GREETING_AT_ONCE = 128;

export function gate(room: number = GREETING_AT_ONCE): Gate {
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
