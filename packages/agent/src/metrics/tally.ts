// The counters of an agent: how fast servers answer, how long starts take, how attempts end. They start at zero with
// the agent.

import type { End } from "../lifecycle/attempt.ts";
import { type Histogram, histogram } from "./text.ts";

export interface Tally {
  /** A heartbeat is sent. Returns true when the server should echo it. */
  beat(sequence: number, atMs: number): boolean;
  /** The server has echoed it. */
  echoed(sequence: number): void;
  /** A process started this long after its order arrived. */
  started(ms: number): void;
  ended(end: End): void;
  /** A connection was refused, by the server or by this agent. */
  refused(code: string): void;
  read(): TallyCounts;
}

interface TallyCounts {
  readonly heartbeat: Histogram;
  readonly startup: Histogram;
  /** `null` before the first heartbeat. */
  readonly lastBeatMs: number | null;
  /** By result: "completed", or the reason why it failed. */
  readonly ended: ReadonlyMap<string, number>;
  /** Refused connections, by reason. */
  readonly refused: ReadonlyMap<string, number>;
}

/** The first heartbeat of a stream and every sixth after it: once a minute as a rule, which ten thousand nodes can afford. */
export const ECHO_EVERY = 6;

const HEARTBEAT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** From a plain process, which takes milliseconds, to an image pulled from far away. */
const STARTUP_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** Codes of refusals with their own label; servers may send any code. */
const REFUSALS: ReadonlySet<string> = new Set([
  "foreign_cluster",
  "server_foreign_cluster",
  "server_behind",
  "server_cluster_not_stored",
  "not_leader",
  "log_unavailable",
  "unauthenticated",
]);

/** `clock` is monotonic, in milliseconds. */
export function createTally(clock: () => number): Tally {
  const heartbeat = histogram(HEARTBEAT_SECONDS);
  const startup = histogram(STARTUP_SECONDS);
  const ended = new Map<string, number>();
  const refused = new Map<string, number>();
  let asked: { readonly sequence: number; readonly at: number } | null = null;
  let lastBeatMs: number | null = null;
  return {
    beat(sequence, atMs) {
      lastBeatMs = atMs;
      if (sequence % ECHO_EVERY !== 1) return false;
      // An unanswered heartbeat is given up: its stream may be gone.
      asked = { sequence, at: clock() };
      return true;
    },
    echoed(sequence) {
      if (asked?.sequence !== sequence) return;
      heartbeat.observe((clock() - asked.at) / 1000);
      asked = null;
    },
    started: (ms) => startup.observe(Math.max(0, ms) / 1000),
    ended: (end) => count(ended, end.kind === "completed" ? "completed" : end.reason),
    refused: (code) => count(refused, REFUSALS.has(code) ? code : "other"),
    read: () => ({ heartbeat, startup, lastBeatMs, ended, refused }),
  };
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
