// The runtime of a hollow node: an attempt "runs" for a set time and then completes. It starts no process and writes
// nothing to disk; everything above it is the real agent.

import type { pb } from "@lattice/wire";
import type { CheckpointTarget, NodeCheckpointResult } from "../checkpoint/types.ts";
import type { Runtime, RuntimeListener } from "../runtime/base/runtime.ts";

/** A job can set its simulated run time. */
const RUNTIME_VARIABLE = "LATTICE_HOLLOW_RUNTIME_MS";
/** Archived attempts remembered by each hollow node, so that a repeated order is known. */
const MAX_REMEMBERED = 64;
const SIGTERM = 15;

export function simulatedRuntime(defaultRuntimeMs: number, listener: RuntimeListener): Runtime {
  const running = new Map<string, NodeJS.Timeout>();
  const archived: string[] = [];
  /** The newest checkpoint of each. */
  const saved = new Map<string, NodeCheckpointResult>();

  function end(key: string): void {
    const timer = running.get(key);
    if (timer === undefined) return;
    clearTimeout(timer);
    running.delete(key);
    listener.exited(key, { kind: "signal", number: SIGTERM }, Date.now());
  }

  return {
    isolation: "process_group",
    recover: async () => new Map(),
    sweep: async () => undefined,
    adopt: () => undefined,
    async start(key, { order }) {
      const done = (): void => {
        running.delete(key);
        listener.exited(key, { kind: "code", code: 0, recorded: true }, Date.now());
      };
      running.set(key, setTimeout(done, runtimeOf(order, defaultRuntimeMs)));
      return { kind: "started", atMs: Date.now() };
    },
    interrupt: () => undefined,
    terminate: async (key) => end(key),
    kill: async (key) => end(key),
    clear: async () => undefined,
    rememberOrder: async () => undefined,
    rememberStop: async () => undefined,
    rememberEnd: async () => undefined,
    async archive(key) {
      archived.push(key);
      saved.delete(key);
      const oldest = archived.length > MAX_REMEMBERED ? archived.shift() : undefined;
      if (oldest !== undefined) listener.dropped(oldest);
    },
    discard: async () => undefined,
    logFile: async () => null,
    firstProcess: async () => null,
    checkpoints: async (key) => (running.has(key) ? pretended(saved, key) : null),
    async close() {
      for (const timer of running.values()) clearTimeout(timer);
      running.clear();
    },
  };
}

/** A simulated program that completes every checkpoint immediately. */
const pretended = (saved: Map<string, NodeCheckpointResult>, key: string): CheckpointTarget => ({
  ask: async (_wanted, heard) => ({ look: async () => heard({ kind: "done", bytes: 0 }), close: () => undefined }),
  word: async () => saved.get(key) ?? null,
  keep: async (result) => void saved.set(key, result),
});

function runtimeOf(order: pb.RunOrder, defaultRuntimeMs: number): number {
  const asked = Number(order.variables[RUNTIME_VARIABLE]);
  return Number.isFinite(asked) && asked >= 0 ? asked : defaultRuntimeMs;
}
