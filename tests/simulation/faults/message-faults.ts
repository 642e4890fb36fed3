// Faults of single messages and writes, such as a duplicate message or a torn write. Each kind has its own probability
// per message or write, is counted, and can be excluded.

import type { World } from "../world/world.ts";

export interface MessageFaults {
  /** Draws whether it happens; counts it if so. */
  strikes(kind: MessageFaultKind): boolean;
  /** Counts another event. */
  met(what: string): void;
  begin(kinds: ReadonlySet<string>): void;
  stop(): void;
}

/** Probability of each, per message or write. */
const CHANCES = {
  /** The answer to a user is lost; the user repeats the request with the same id. */
  answer_lost: 0.03,
  /** A user's request arrives twice, the second time perhaps at another server, in any order. */
  request_repeated: 0.08,
  /** A user's request takes so long that it is repeated meanwhile: both arrive, in any order. */
  request_late: 0.03,
  /** A forwarded write reaches the leader twice. */
  proposal_repeated: 0.2,
  /** A forwarded write arrives after its author has given up, perhaps at a former leader. */
  proposal_late: 0.1,
  /** The same append reaches the log again later. */
  append_repeated: 0.03,
  /** An append takes longer than its author waits. */
  append_late: 0.003,
  report_repeated: 0.06,
  order_repeated: 0.06,
  /** A run or stop order is lost although its stream lives: harsher than TCP, and the reason for repeating orders. */
  order_lost: 0.02,
  /** An agent gives up its stream while a report is in flight, which arrives after those of its next stream. */
  stream_outlived: 0.02,
  /** A server dies during a snapshot. */
  snapshot_torn: 0.06,
} as const;

export type MessageFaultKind = keyof typeof CHANCES;

export const MESSAGE_FAULT_KINDS = Object.keys(CHANCES) as readonly MessageFaultKind[];

export function createMessageFaults(world: World, count: (kind: string) => void): MessageFaults {
  const streams = new Map(MESSAGE_FAULT_KINDS.map((kind) => [kind, world.random(`odds ${kind}`)]));
  let going: ReadonlySet<string> = new Set();
  return {
    strikes(kind) {
      if (!going.has(kind) || streams.get(kind)?.chance(CHANCES[kind]) !== true) return false;
      count(kind);
      return true;
    },
    met: count,
    begin(kinds) {
      going = kinds;
    },
    stop() {
      going = new Set();
    },
  };
}
