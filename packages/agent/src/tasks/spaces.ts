// The mount namespace, with its own /dev/shm, that all launches of an attempt share on this node: created by the first
// shepherd, held open by the agent, and released with the attempt.

import { closeSync, openSync, readlinkSync } from "node:fs";

export interface Spaces {
  /**
   * Resolves to the file by which it is entered, or to null when there is none: the caller then creates it and calls
   * `made`.
   */
  find(key: string): Promise<string | null>;
  made(key: string, pid: number): void;
  /** The attempt has ended. */
  forget(key: string): void;
  close(): void;
}

interface Space {
  readonly found: Promise<string | null>;
  readonly settle: (path: string | null) => void;
  descriptor: number | null;
}

/** A process needs a moment to leave the namespace that it was started in. */
const LOOK_EVERY_MS = 2;
const LOOK_TIMES = 1_000;

export function spaces(): Spaces {
  const known = new Map<string, Space>();

  function begin(key: string): void {
    let settle: Space["settle"] = () => undefined;
    const found = new Promise<string | null>((resolve) => {
      settle = resolve;
    });
    known.set(key, { found, settle, descriptor: null });
  }

  function hold(key: string, space: Space, pid: number, left: number): void {
    if (known.get(key) !== space) return;
    const opened = tryOpen(pid);
    if (opened === "not yet" && left > 0) {
      setTimeout(() => hold(key, space, pid, left - 1), LOOK_EVERY_MS);
      return;
    }
    if (typeof opened !== "number") {
      // Creation failed: the next shepherd creates its own.
      known.delete(key);
      space.settle(null);
      return;
    }
    space.descriptor = opened;
    space.settle(`/proc/${process.pid}/fd/${opened}`);
  }

  function forget(key: string): void {
    const space = known.get(key);
    known.delete(key);
    space?.settle(null);
    if (space?.descriptor !== null && space?.descriptor !== undefined) closeSync(space.descriptor);
  }

  return {
    async find(key) {
      for (let space = known.get(key); space !== undefined; space = known.get(key)) {
        const path = await space.found;
        if (path !== null) return path;
      }
      begin(key);
      return null;
    },
    made(key, pid) {
      const space = known.get(key);
      if (space !== undefined) hold(key, space, pid, LOOK_TIMES);
    },
    forget,
    close() {
      for (const key of [...known.keys()]) forget(key);
    },
  };
}

function tryOpen(pid: number): number | "not yet" | "gone" {
  try {
    const file = `/proc/${pid}/ns/mnt`;
    if (readlinkSync(file) === readlinkSync("/proc/self/ns/mnt")) return "not yet";
    return openSync(file, "r");
  } catch {
    return "gone";
  }
}
