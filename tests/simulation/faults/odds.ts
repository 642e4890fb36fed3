// Trouble that is met on the way rather than struck from outside: a message that comes twice, a write that
// is cut short. Each kind has a chance of its own for every message or write that could meet it, is counted
// when it does, and can be left out like any other fault.

import type { World } from "../world/world.ts";

export interface Odds {
  /** Whether it happens this time; then it is counted. */
  strikes(kind: OddKind): boolean;
  /** Something else that happened and is worth a figure. */
  met(what: string): void;
  begin(kinds: ReadonlySet<string>): void;
  stop(): void;
}

/** The chance of each, for every message or write that it can happen to. */
const CHANCES = {
  /** An answer to a user is lost, who asks again with the same request id. */
  answer_lost: 0.03,
  /** A user's request comes twice, the second perhaps at another server, in any order. */
  request_repeated: 0.08,
  /** A user's request is under way for so long that it was asked again meanwhile: both arrive, in any order. */
  request_late: 0.03,
  /** What a follower passes on reaches the leader twice. */
  proposal_repeated: 0.2,
  /** What a follower passes on comes when its author no longer waits, perhaps to a leader of the past. */
  proposal_late: 0.1,
  /** The same append reaches the log again, some time later. */
  append_repeated: 0.03,
  /** An append is under way for longer than its author waits. */
  append_late: 0.003,
  report_repeated: 0.06,
  order_repeated: 0.06,
  /** A run or stop order never arrives although its stream lives on: harsher than TCP, and what repeating orders is for. */
  order_lost: 0.02,
  /** An agent gives its stream up while a report is under way on it, which arrives behind those of its next stream. */
  stream_outlived: 0.02,
  /** A server dies in the middle of a snapshot. */
  snapshot_torn: 0.06,
} as const;

export type OddKind = keyof typeof CHANCES;

export const ODD_KINDS = Object.keys(CHANCES) as readonly OddKind[];

export function createOdds(world: World, count: (kind: string) => void): Odds {
  const streams = new Map(ODD_KINDS.map((kind) => [kind, world.random(`odds ${kind}`)]));
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
