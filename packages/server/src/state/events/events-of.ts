// Derives the events of one allocation from its record, in order: phase changes, decisions, failures, scaling and
// preemption. The record is the same on every server and enters the history, so the events are the same everywhere. The
// position of an event is (index, n): the entry of the log, and its number within that entry; later events never get an
// earlier position. Pure.

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

export interface AllocationEvent {
  /** "index:n": increases from event to event and never changes. */
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

/** The submission has no index: it precedes all others. */
type Moment = Omit<AllocationEvent, "cursor" | "nodes"> &
  Partial<Pick<AllocationEvent, "nodes">> & { readonly index?: number };

/** Order of the moments of one entry: decisions and notes, changes of the attempt, consequences. */
const RANKS = { first: 0, placed: 1, noted: 2, moved: 3, after: 4, end: 5 } as const;

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
      index,
      type: "decision" as const,
      kind: "placement_refused",
      text: `A placement was refused (${code}): ${detail}.`,
      attempt: 0,
      reason: code,
    })),
    ...presentMoments(record),
    ...(past?.notes ?? []),
  ];
  // Time never decreases from entry to entry.
  const order = (a: Moment, b: Moment): number =>
    a.at - b.at || (a.index ?? 0) - (b.index ?? 0) || rankOf(a) - rankOf(b);
  return numbered(moments.sort(order));
}

export interface EventCursor {
  readonly index: number;
  readonly n: number;
}

/** Returns `null` for an invalid cursor. */
export function parseEventCursor(text: string): EventCursor | null {
  const match = /^(\d{1,15}):(\d{1,6})$/.exec(text);
  return match === null ? null : { index: Number(match[1]), n: Number(match[2]) };
}

export function isAfter({ cursor }: AllocationEvent, seen: EventCursor): boolean {
  const own = parseEventCursor(cursor) ?? seen;
  return own.index > seen.index || (own.index === seen.index && own.n > seen.n);
}

/** Returns whether events after `seen` have been dropped. */
export const hasMissed = ({ past }: Pick<Allocation, "past">, seen: EventCursor): boolean =>
  past?.cut !== undefined && seen.index <= past.cut.through;

/** Returns the number of dropped attempts, refusals and notes. */
export const droppedCount = ({ past }: Pick<Allocation, "past">): number => past?.cut?.count ?? 0;

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

function rankOf({ kind, type }: Moment): number {
  if (kind === "submitted") return RANKS.first;
  if (kind === "placed") return RANKS.placed;
  if (type !== "scaling" && ENDS.includes(kind)) return RANKS.end;
  if (kind === "held") return RANKS.after;
  return MOVES.includes(kind) ? RANKS.moved : RANKS.noted;
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

/** Returns the moments of the current or last attempt. */
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
  const suffix = message === "" ? "" : `: ${message}`;
  const facts = { at, kind, attempt, nodes, ...(exitCode === null ? {} : { exitCode }) };
  switch (phase.kind) {
    case "completed":
      return { ...facts, type: "state", text: `Completed${exit}.` };
    case "failed":
      return { ...facts, type: "failure", text: `Failed (${phase.reason}${exit})${suffix}.`, reason: phase.reason };
    case "cancelled": {
      const suffix = phase.reason === "" ? "" : `: ${phase.reason}`;
      return { ...facts, type: "state", text: `Cancelled by ${phase.by}${suffix}.`, reason: phase.reason };
    }
  }
}

interface PlacedNodes {
  readonly nodes: readonly string[];
  /** Number of all nodes; `nodes` may list only the first few. */
  readonly count: number;
  readonly attempt: number;
}

/** Entries of the attempt's start and end, inclusive; absent when unknown or not reached. */
interface AttemptEntries {
  readonly placed?: number;
  readonly ended?: number;
}

/**
 * Returns the original placement of an attempt whose nodes changed while it ran, by undoing the notes about each change
 * in reverse order: events already shown must not change. Dropped notes are not undone.
 */
function asPlaced(now: PlacedNodes, notes: readonly PastNote[], { placed, ended }: AttemptEntries): PlacedNodes {
  if (placed === undefined) return now;
  const since = notes.filter(({ index = 0 }) => index >= placed && (ended === undefined || index <= ended));
  return since.reduceRight(undo, now);
}

/** Every added node is its own attempt. */
function undo(now: PlacedNodes, { kind, nodes: [node] = [] }: PastNote): PlacedNodes {
  if (node === undefined) return now;
  if (kind === "scaled_up") {
    return { nodes: now.nodes.filter((one) => one !== node), count: now.count - 1, attempt: now.attempt - 1 };
  }
  return kind === "scaled_down" ? { ...now, nodes: [...now.nodes, node], count: now.count + 1 } : now;
}
