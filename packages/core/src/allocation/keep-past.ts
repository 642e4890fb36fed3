// Adds to an allocation's past: the attempt that a move gives up, and the placement that was refused.

import type { Instant, LogIndex } from "../ids.ts";
import type { Refusal } from "../outcome.ts";
import type { Allocation } from "./allocation.ts";
import {
  MAX_PAST_ATTEMPTS,
  MAX_PAST_NODES,
  MAX_PAST_NOTES,
  MAX_PAST_REFUSALS,
  MAX_PAST_WHY,
  type PastAttempt,
  type PastFailure,
  type PastNote,
} from "./past.ts";
import { type AllocationPhase, isFinal, isPlaced } from "./phase.ts";

/** Servers before know no such field, and would differ in their state hash. */
const PAST_VERSION = 2;

interface Stamp {
  readonly at: Instant;
  readonly version: number;
}

/** What a move to `phase` adds to the past: the attempt that ends with it, unless the end itself is kept. */
export function pastAfterMove(
  record: Allocation,
  phase: AllocationPhase,
  { at, version }: Stamp,
  failure?: PastFailure,
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
    cause: "cause" in phase ? phase.cause : "",
    scoreMilli: record.scores.total ?? 0,
    backfilled: record.backfilled,
    ...(failure === undefined ? {} : { failure }),
    ...whyOf(phase),
  };
  const { attempts = [], refusals = [], ...rest } = record.past ?? {};
  return { past: { ...rest, attempts: newest([...attempts, ended], MAX_PAST_ATTEMPTS), refusals } };
}

function whyOf(phase: AllocationPhase): Pick<PastAttempt, "why"> {
  const stopped = (phase.kind === "pending" || phase.kind === "suspended") && phase.cause !== "policy";
  const message = stopped ? (phase.message ?? "") : "";
  return message === "" ? {} : { why: message.slice(0, MAX_PAST_WHY) };
}

/**
 * The record with a placement that was refused; the same record where servers of a version before are about,
 * and where this plan has been refused before: one that comes twice changes nothing.
 */
export function withRefusal(
  record: Allocation,
  { code, detail, basis }: Refusal & { readonly basis: LogIndex },
  { at, version }: Stamp,
): Allocation {
  if (version < PAST_VERSION) return record;
  const { attempts = [], refusals = [], ...rest } = record.past ?? {};
  if (refusals.some((known) => known.basis === basis)) return record;
  return {
    ...record,
    past: { ...rest, attempts, refusals: newest([...refusals, { at, basis, code, detail }], MAX_PAST_REFUSALS) },
  };
}

/** The record with something that happened to it. */
export function withNote(
  record: Allocation,
  note: Omit<PastNote, "at" | "attempt">,
  { at, version }: Stamp,
): Allocation {
  if (version < PAST_VERSION) return record;
  const { attempts = [], refusals = [], notes = [] } = record.past ?? {};
  const kept = newest([...notes, { at, attempt: record.attempt, ...note }], MAX_PAST_NOTES);
  return { ...record, past: { attempts, refusals, notes: kept } };
}

const newest = <T>(items: readonly T[], most: number): readonly T[] => items.slice(-most);
