// Adds to the history of an allocation: the attempt that a move ends, a refused placement, and notes. Beyond the bounds
// the oldest items are dropped and counted.

import { type Instant, type LogIndex, logIndex, type NodeId } from "../../base/ids.ts";
import type { Refusal } from "../../base/outcome.ts";
import type { Allocation } from "./allocation.ts";
import { endOfAttempt } from "./attempt-end.ts";
import {
  type DroppedHistory,
  type Entries,
  MAX_PAST_ATTEMPTS,
  MAX_PAST_CHECKPOINT_NOTES,
  MAX_PAST_NODES,
  MAX_PAST_NOTES,
  MAX_PAST_REFUSALS,
  MAX_PAST_WHY,
  type Past,
  type PastAttempt,
  type PastFailure,
  type PastNote,
} from "./past.ts";
import { type AllocationPhase, isFinal, isPlaced } from "./phase.ts";

interface Stamp {
  readonly at: Instant;
  readonly index: LogIndex;
}

/** Returns what a move to `phase` adds to the past: the attempt that ends with it, unless the end itself is kept. */
export function pastAfterMove(
  record: Allocation,
  phase: AllocationPhase,
  { at, index }: Stamp,
  failure?: PastFailure,
): Pick<Allocation, "past"> {
  const from = record.phase;
  if (!isPlaced(from) || isPlaced(phase) || isFinal(phase)) return {};
  const ended: PastAttempt = {
    attempt: record.attempt,
    nodeCount: from.nodes.length,
    nodes: from.nodes.slice(0, MAX_PAST_NODES),
    placedAt: from.placedAt,
    startedAt: from.kind === "staging" ? null : from.startedAt,
    endedAt: endOfAttempt(from, at),
    to: phase.kind,
    cause: "cause" in phase ? phase.cause : "",
    scoreMilli: record.scores.total ?? 0,
    backfilled: record.backfilled,
    ...(failure === undefined ? {} : { failure }),
    ...whyOf(phase),
    entries: { ...record.entries, ended: index },
  };
  const { attempts = [], refusals = [], ...rest } = record.past ?? {};
  const kept = newest([...attempts, ended], MAX_PAST_ATTEMPTS);
  const cut = kept.cut.map(({ entries }) => entries?.ended);
  return { past: { ...rest, attempts: kept.items, refusals, ...cutMore(record.past, cut) } };
}

function whyOf(phase: AllocationPhase): Pick<PastAttempt, "why"> {
  const stopped = (phase.kind === "pending" || phase.kind === "suspended") && phase.cause !== "policy";
  const message = stopped ? (phase.message ?? "") : "";
  return message === "" ? {} : { why: message.slice(0, MAX_PAST_WHY) };
}

/** Returns the log entries of the attempt after a move to `phase`; empty when the attempt is over. */
export function entriesAfterMove(
  record: Allocation,
  phase: AllocationPhase,
  { index }: Stamp,
): { readonly entries?: Entries } {
  const { entries } = record;
  if (isFinal(phase)) return { entries: { ...entries, ended: index } };
  if (phase.kind === "staging") return { entries: { placed: index } };
  if (phase.kind === "running" && record.phase.kind === "staging") return { entries: { ...entries, started: index } };
  return isPlaced(phase) && entries !== undefined ? { entries } : {};
}

/**
 * Returns the record with a refused placement; the same record when this plan was refused before, so that a repeated
 * refusal changes nothing.
 */
export function withRefusal(
  record: Allocation,
  { code, detail, basis }: Refusal & { readonly basis: LogIndex },
  { at, index }: Stamp,
): Allocation {
  const { attempts = [], refusals = [], ...rest } = record.past ?? {};
  if (refusals.some((known) => known.basis === basis)) return record;
  const kept = newest([...refusals, { at, index, basis, code, detail }], MAX_PAST_REFUSALS);
  const cut = cutMore(record.past, kept.cut.map(indexOf));
  return { ...record, past: { ...rest, attempts, refusals: kept.items, ...cut } };
}

export type NewNote = Omit<PastNote, "at" | "index" | "attempt">;

/** Returns the record with a note. */
export function withNote(record: Allocation, { nodes, ...note }: NewNote, { at, index }: Stamp): Allocation {
  const { attempts = [], refusals = [], notes = [], ...rest } = record.past ?? {};
  const named: { nodes?: readonly NodeId[] } = nodes === undefined ? {} : { nodes: nodes.slice(0, MAX_PAST_NODES) };
  const all = [...notes, { at, index, attempt: record.attempt, ...note, ...named }];
  const often = isOften(note);
  const most = often ? MAX_PAST_CHECKPOINT_NOTES : MAX_PAST_NOTES;
  const alike = newest(
    all.filter((one) => isOften(one) === often),
    most,
  );
  const gone = new Set(alike.cut);
  const kept = gone.size === 0 ? all : all.filter((one) => !gone.has(one));
  return {
    ...record,
    past: { ...rest, attempts, refusals, notes: kept, ...cutMore(record.past, alike.cut.map(indexOf)) },
  };
}

/** An equal note is the last one of the same attempt, so the condition still holds. */
export function isNoted({ past, attempt }: Allocation, { kind, text }: NewNote): boolean {
  const last = past?.notes?.at(-1);
  return last?.kind === kind && last.text === text && last.attempt === attempt;
}

/** Notes of checkpoints, which the broker may request every few minutes. */
const isOften = ({ kind }: Pick<PastNote, "kind">): boolean => kind.startsWith("checkpoint_");

const indexOf = ({ index }: { readonly index?: LogIndex }): LogIndex | undefined => index;

function newest<T>(items: readonly T[], most: number) {
  return { items: items.slice(-most), cut: items.slice(0, Math.max(0, items.length - most)) };
}

function cutMore(past: Past | undefined, cut: readonly (LogIndex | undefined)[]): { readonly cut?: DroppedHistory } {
  if (cut.length === 0) return {};
  const before = past?.cut ?? { count: 0, through: 0 };
  const through = cut.reduce<number>((most, index) => Math.max(most, index ?? 0), before.through);
  return { cut: { count: before.count + cut.length, through: logIndex(through) } };
}
