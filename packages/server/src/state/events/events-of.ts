// Everything that has happened to one allocation, in order, read off its record: the moves of its phase, what was
// decided, what failed, how it was scaled and for whom it was stopped. The record is the same on every server and
// goes into the history, so the stream is as well. An event's place is (index, n): the entry of the log that brought it, and its
// number among those of that entry; nothing that comes later ever gets an earlier one. Pure.

import {
  type Allocation,
  type FinalPhase,
  isFinal,
  isPlaced,
  type NoteType,
  type PastAttempt,
  type PastFailure,
  type PastNote,
  type Scores,
} from "@lattice/core";
import { asPlaced } from "./as-placed.ts";

export interface AllocationEvent {
  /** "index:n": grows from event to event, and is the same whenever it is read. */
  readonly cursor: string;
  readonly at: number;
  readonly type: NoteType;
  readonly kind: string;
  readonly text: string;
  readonly attempt: number;
  readonly nodes: readonly string[];
  readonly scores?: Scores;
  readonly reason?: string;
  readonly exitCode?: number;
}

/** Without an index it is of an earlier version, and before all that have one. */
type Moment = Omit<AllocationEvent, "cursor" | "nodes"> &
  Partial<Pick<AllocationEvent, "nodes">> & { readonly index?: number };

/** What an entry brings comes in this order: what was decided and noted, what became of the attempt, what follows. */
const PLACES = { first: 0, placed: 1, noted: 2, moved: 3, after: 4, end: 5 } as const;

export function eventsOf(record: Allocation): readonly AllocationEvent[] {
  const { spec, submittedAt, past } = record;
  const moments: Moment[] = [
    {
      at: submittedAt,
      type: "state",
      kind: "submitted",
      text: `Submitted by ${record.user} to vCluster ${spec.vcluster}.`,
      attempt: 0,
    },
    ...(past?.attempts ?? []).flatMap((attempt) => attemptMoments(attempt, past?.notes ?? [])),
    ...(past?.refusals ?? []).map(({ at, index, code, detail }) => ({
      at,
      ...indexed(index),
      type: "decision" as const,
      kind: "placement_refused",
      text: `A placement was refused (${code}): ${detail}.`,
      attempt: 0,
      reason: code,
    })),
    ...presentMoments(record),
    ...(past?.notes ?? []),
  ];
  // Time never goes back from entry to entry.
  const order = (a: Moment, b: Moment): number =>
    a.at - b.at || (a.index ?? 0) - (b.index ?? 0) || placeOf(a) - placeOf(b);
  return numbered(moments.sort(order));
}

export interface EventCursor {
  readonly index: number;
  readonly n: number;
}

/** Null: not one. */
export function parseEventCursor(text: string): EventCursor | null {
  const match = /^(\d{1,15}):(\d{1,6})$/.exec(text);
  return match === null ? null : { index: Number(match[1]), n: Number(match[2]) };
}

export function isAfter({ cursor }: AllocationEvent, seen: EventCursor): boolean {
  const own = parseEventCursor(cursor) ?? seen;
  return own.index > seen.index || (own.index === seen.index && own.n > seen.n);
}

/** Something that came after what was seen is no longer kept. */
export const hasMissed = ({ past }: Pick<Allocation, "past">, seen: EventCursor): boolean =>
  past?.cut !== undefined && seen.index <= past.cut.through;

/** Attempts, refused placements and others that are no longer kept. */
export const leftOutOf = ({ past }: Pick<Allocation, "past">): number => past?.cut?.count ?? 0;

function numbered(moments: readonly Moment[]): readonly AllocationEvent[] {
  let last = -1;
  let n = 0;
  return moments.map(({ index = 0, ...moment }) => {
    n = index === last ? n + 1 : 0;
    last = index;
    return { ...moment, nodes: moment.nodes ?? [], cursor: `${index}:${n}` };
  });
}

const indexed = (index: number | undefined): { readonly index?: number } => (index === undefined ? {} : { index });

function placeOf({ kind, type }: Moment): number {
  if (kind === "submitted") return PLACES.first;
  if (kind === "placed") return PLACES.placed;
  if (type !== "scaling" && ENDS.includes(kind)) return PLACES.end;
  if (kind === "held") return PLACES.after;
  return MOVES.includes(kind) ? PLACES.moved : PLACES.noted;
}

const ENDS: readonly string[] = ["completed", "failed", "cancelled"];
const MOVES: readonly string[] = ["started", "attempt_failed", "suspended", "preempted", "requeued"];

function attemptMoments(past: PastAttempt, notes: readonly PastNote[]): Moment[] {
  const { attempt, nodes, nodeCount, placedAt, startedAt, endedAt, to, cause, failure, why, entries = {} } = past;
  const scores = { total: past.scoreMilli };
  const { count, ...first } = asPlaced({ nodes, count: nodeCount, attempt }, notes, entries);
  const moments: Moment[] = [
    placed({ at: placedAt, ...indexed(entries.placed), ...first, scores }, count, past.backfilled),
  ];
  if (startedAt !== null) moments.push(started({ at: startedAt, ...indexed(entries.started), ...first }));
  const over = { at: endedAt, ...indexed(entries.ended), attempt, nodes };
  if (failure !== undefined) moments.push({ ...over, ...failed(failure) });
  const because = why === undefined ? "" : `: ${why}`;
  const preempted = cause === "preempted";
  const type = preempted ? "preemption" : "state";
  if (to === "suspended") {
    const text = `Suspended after a checkpoint${because}.`;
    return [...moments, { ...over, type, kind: "suspended", text, reason: cause }];
  }
  const kind = preempted ? "preempted" : "requeued";
  const text = preempted ? `Preempted, and queued again${because}.` : `Queued again: ${cause.replaceAll("_", " ")}.`;
  return [...moments, { ...over, type, kind, text, reason: cause }];
}

const started = (moment: Pick<Moment, "at" | "index" | "attempt" | "nodes">): Moment => ({
  ...moment,
  type: "state",
  kind: "started",
  text: "Started.",
});

function failed({ reason, exitCode, message }: PastFailure) {
  const exit = exitCode === null ? "" : `, exit code ${exitCode}`;
  const text = `The attempt failed (${reason}${exit})${message === "" ? "" : `: ${message}`}.`;
  return {
    type: "failure" as const,
    kind: "attempt_failed",
    text,
    reason,
    ...(exitCode === null ? {} : { exitCode }),
  };
}

function placed(
  moment: Pick<Moment, "at" | "index" | "attempt" | "nodes" | "scores">,
  count: number,
  backfilled: boolean,
): Moment {
  const score = ((moment.scores?.total ?? 0) / 1000).toFixed(3);
  const where = count === 1 ? "1 node" : `${count} nodes`;
  const text = `Placed on ${where}${backfilled ? " by backfill" : ""} with a score of ${score}.`;
  return { ...moment, type: "decision", kind: "placed", text };
}

/** The attempt that it is in, or ended with. */
function presentMoments({ phase, attempt, backfilled, scores, entries, past }: Allocation): Moment[] {
  if (!isPlaced(phase) && !isFinal(phase)) return [];
  const { nodes } = phase;
  const { count, ...first } = asPlaced({ nodes, count: nodes.length, attempt }, past?.notes ?? [], entries ?? {});
  const moments: Moment[] = [];
  if (phase.placedAt !== undefined)
    moments.push(placed({ at: phase.placedAt, ...indexed(entries?.placed), ...first, scores }, count, backfilled));
  const startedAt = phase.kind === "staging" ? null : phase.startedAt;
  if (startedAt !== null) moments.push(started({ at: startedAt, ...indexed(entries?.started), ...first }));
  if (isFinal(phase)) moments.push({ ...end(phase, attempt), ...indexed(entries?.ended) });
  return moments;
}

function end(phase: FinalPhase, attempt: number): Moment {
  const { endedAt: at, kind, exitCode, message, nodes } = phase;
  const exit = exitCode === null ? "" : `, exit code ${exitCode}`;
  const said = message === "" ? "" : `: ${message}`;
  const facts = { at, kind, attempt, nodes, ...(exitCode === null ? {} : { exitCode }) };
  switch (phase.kind) {
    case "completed":
      return { ...facts, type: "state", text: `Completed${exit}.` };
    case "failed":
      return { ...facts, type: "failure", text: `Failed (${phase.reason}${exit})${said}.`, reason: phase.reason };
    case "cancelled": {
      const why = phase.reason === "" ? "" : `: ${phase.reason}`;
      return { ...facts, type: "state", text: `Cancelled by ${phase.by}${why}.`, reason: phase.reason };
    }
  }
}
