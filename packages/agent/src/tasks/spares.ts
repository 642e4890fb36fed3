// Shepherds started in advance, one per attempt that launches: starting Node is a large part of a small launch. The
// first launch starts its own; when it is over the next one is prepared. A spare is a process of its attempt and ends
// with it, and with the agent.

import type { Facilities } from "./facilities.ts";
import type { Spaces } from "./spaces.ts";
import { type StartedShepherd, startShepherd } from "./start-shepherd.ts";
import { hasOwnFiles, type TaskContext } from "./task-context.ts";

interface SparesOptions {
  readonly facilities: Facilities;
  readonly context: (key: string) => Promise<TaskContext | null>;
  readonly running: (key: string) => boolean;
  readonly spaces: Spaces;
}

export interface Spares {
  /** The spare of this attempt when there is one, else a new one. */
  take(key: string, context: TaskContext): Promise<StartedShepherd>;
  /** Never rejects: without a spare the next launch is only slower. */
  prepare(key: string): Promise<void>;
  close(): void;
}

export function spares({ facilities, context, running, spaces }: SparesOptions): Spares {
  const ready = new Map<string, StartedShepherd>();
  const preparing = new Set<string>();

  async function start(key: string, place: TaskContext): Promise<StartedShepherd> {
    const plain = { context: place, program: facilities.shepherdProgram };
    if (!facilities.ownSharedMemory || hasOwnFiles(place)) return startShepherd({ ...plain, space: "none" });
    const known = await spaces.find(key);
    if (known !== null) return startShepherd({ ...plain, space: { enter: known } });
    try {
      const first = await startShepherd({ ...plain, space: "new" });
      spaces.made(key, first.pid);
      return first;
    } catch (error) {
      spaces.forget(key);
      throw error;
    }
  }

  async function makeReady(key: string): Promise<void> {
    const place = await context(key);
    if (place === null || !running(key)) return;
    const spare = await start(key, place);
    ready.set(key, spare);
    spare.socket.once("close", () => {
      if (ready.get(key) === spare) ready.delete(key);
    });
  }

  return {
    async take(key, place) {
      const spare = ready.get(key);
      ready.delete(key);
      return spare ?? (await start(key, place));
    },
    async prepare(key) {
      if (ready.has(key) || preparing.has(key) || !running(key)) return;
      preparing.add(key);
      await makeReady(key).catch(() => undefined);
      preparing.delete(key);
    },
    close() {
      for (const { socket } of ready.values()) socket.destroy();
      ready.clear();
    },
  };
}
