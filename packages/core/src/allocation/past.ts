// What an allocation has been through before its present phase: attempts that were given up, and placements
// that were refused. Both are kept in the record itself, so that its decision timeline is the same on every
// server, outlives restarts, and goes into the history with it. The newest are kept, up to a bound; a plain
// allocation that runs once carries nothing.

import type { Attempt, Instant, NodeId } from "../ids.ts";
import type { Refusal, RefusalCode } from "../outcome.ts";
import type { Allocation } from "./allocation.ts";
import { type AllocationPhase, isFinal, isPlaced } from "./phase.ts";

/** More requeues than nearly every policy allows. */
export const MAX_PAST_ATTEMPTS = 32;
/** Of each: a plan that collides again and again says the same. */
export const MAX_PAST_REFUSALS = 8;
/** Named per attempt; the others are counted. */
export const MAX_PAST_NODES = 16;

/** Servers before know no such field, and would differ in their state hash. */
const PAST_VERSION = 2;

export interface PastAttempt {
  readonly attempt: Attempt;
  readonly nodeCount: number;
  /** The first few. */
  readonly nodes: readonly NodeId[];
  readonly placedAt: Instant;
  /** Null: it never ran. */
  readonly startedAt: Instant | null;
  readonly endedAt: Instant;
  /** The phase it went to, and why: "pending" and "node_failure", for example. */
  readonly to: "pending" | "suspended";
  readonly cause: string;
  readonly scoreMilli: number;
  readonly backfilled: boolean;
}

export interface PastRefusal {
  readonly at: Instant;
  readonly code: RefusalCode;
  readonly detail: string;
}

export interface Past {
  readonly attempts: readonly PastAttempt[];
  readonly refusals: readonly PastRefusal[];
}

interface Stamp {
  readonly at: Instant;
  readonly version: number;
}

/** What a move to `phase` adds to the past: the attempt that ends with it, unless the end itself is kept. */
export function pastAfterMove(
  record: Allocation,
  phase: AllocationPhase,
  { at, version }: Stamp,
): Pick<Allocation, "past"> {
  const from = record.phase;
  if (version < PAST_VERSION || !isPlaced(from) || isPlaced(phase) || isFinal(phase)) return {};
  const ended: PastAttempt = {
    attempt: record.attempt,
    nodeCount: from.nodes.length,
    nodes: from.nodes.slice(0, MAX_PAST_NODES),
    placedAt: from.placedAt,
    startedAt: from.kind === "staging" ? null : from.startedAt,
    endedAt: at,
    to: phase.kind,
    cause: phase.kind === "pending" ? phase.cause : "",
    scoreMilli: record.scores.total ?? 0,
    backfilled: record.backfilled,
  };
  const { attempts = [], refusals = [] } = record.past ?? {};
  return { past: { attempts: newest([...attempts, ended], MAX_PAST_ATTEMPTS), refusals } };
}

/** The record with a placement that was refused; the same record where servers of a version before are about. */
export function withRefusal(record: Allocation, { code, detail }: Refusal, { at, version }: Stamp): Allocation {
  if (version < PAST_VERSION) return record;
  const { attempts = [], refusals = [] } = record.past ?? {};
  return { ...record, past: { attempts, refusals: newest([...refusals, { at, code, detail }], MAX_PAST_REFUSALS) } };
}

const newest = <T>(items: readonly T[], most: number): readonly T[] => items.slice(-most);
