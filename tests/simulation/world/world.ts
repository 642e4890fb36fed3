// Time and randomness of one simulated cluster. Time moves from event to event, after all microtasks have run, so that
// a settled promise is followed to its end before the next event. The first violation stops the run.

import { createQueue } from "./queue.ts";
import { hashOf, type Random, randomStream } from "./random.ts";

export interface Violation {
  readonly atMs: number;
  readonly rule: string;
  readonly detail: string;
}

export interface World {
  /** Milliseconds since the start of the simulation. */
  now(): number;
  after(waitMs: number, run: () => void): () => void;
  random(name: string): Random;
  /** Part of the trace: two runs of one seed note the same. */
  note(text: string): void;
  /** Passed to watchers of the run; not part of the trace. */
  output(text: string): void;
  violated(rule: string, detail: string): void;
  violation(): Violation | null;
  /** Runs events up to that time, or until a violation or the end of the queue. */
  runUntil(endMs: number): Promise<void>;
  traceHash(): string;
  events(): number;
  /** Runs when the world is no longer needed: the platform keeps signals with listeners alive. */
  atEnd(run: () => void): void;
  close(): void;
}

export interface WorldOptions {
  readonly seed: number;
  /** The real one, taken before the guard forbids it. */
  readonly turn: () => Promise<void>;
  /** Receives every note, for watching a run. */
  readonly onNote: ((atMs: number, text: string) => void) | null;
}

export function createWorld({ seed, turn, onNote }: WorldOptions): World {
  const queue = createQueue();
  const last: (() => void)[] = [];
  let nowMs = 0;
  let order = 0;
  let events = 0;
  let trace = hashOf(String(seed));
  let violation: Violation | null = null;

  return {
    now: () => nowMs,
    after(waitMs, run) {
      order += 1;
      const happening = { at: nowMs + Math.max(0, Math.ceil(waitMs)), order, run: run as (() => void) | null };
      queue.push(happening);
      return () => {
        happening.run = null;
      };
    },
    random: (name) => randomStream(seed, name),
    note(text) {
      trace = hashOf(`${nowMs} ${text}`, trace);
      onNote?.(nowMs, text);
    },
    output: (text) => onNote?.(nowMs, text),
    violated(rule, detail) {
      violation ??= { atMs: nowMs, rule, detail };
    },
    violation: () => violation,
    async runUntil(endMs) {
      await turn();
      while (violation === null) {
        const next = queue.pop();
        if (next === null) break;
        if (next.at > endMs) {
          queue.push(next);
          break;
        }
        if (next.run === null) continue;
        nowMs = next.at;
        events += 1;
        trace = (Math.imul(trace ^ next.order, 0x01000193) ^ next.at) >>> 0;
        next.run();
        await turn();
      }
      if (violation === null) nowMs = endMs;
    },
    traceHash: () => `${trace.toString(16).padStart(8, "0")}-${events}`,
    events: () => events,
    atEnd: (run) => void last.push(run),
    close() {
      for (const run of last) run();
    },
  };
}
