// Everything that has happened to one allocation, in order, read off its record: the moves of its phase, what was
// decided, what failed, how it was scaled and for whom it was stopped. The record is the same on every server and
// goes into the history, so the stream is as well. Pure.

import {
  type Allocation,
  type FinalPhase,
  isFinal,
  isPlaced,
  type NoteType,
  type PastAttempt,
  type PastFailure,
  type Scores,
} from "@lattice/core";

export interface AllocationEvent {
  /** "at:n", the n-th of its instant: grows from event to event. */
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

type Moment = Omit<AllocationEvent, "cursor" | "nodes"> & Partial<Pick<AllocationEvent, "nodes">>;

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
    ...(past?.attempts ?? []).flatMap(attemptMoments),
    ...(past?.refusals ?? []).map(({ at, code, detail }) => ({
      at,
      type: "decision" as const,
      kind: "placement_refused",
      text: `A placement was refused (${code}): ${detail}.`,
      attempt: 0,
      reason: code,
    })),
    ...presentMoments(record),
    ...(past?.notes ?? []),
  ];
  // What happened at one instant stays in the order above, but for the end, which is the last.
  const sorted = moments.sort((a, b) => a.at - b.at || Number(isEnd(a)) - Number(isEnd(b)));
  return numbered(sorted);
}

/** Null: not one. */
export function parseEventCursor(text: string): { readonly at: number; readonly n: number } | null {
  const match = /^(\d{1,15}):(\d{1,6})$/.exec(text);
  return match === null ? null : { at: Number(match[1]), n: Number(match[2]) };
}

export function isAfter({ cursor }: AllocationEvent, seen: { readonly at: number; readonly n: number }): boolean {
  const own = parseEventCursor(cursor) ?? seen;
  return own.at > seen.at || (own.at === seen.at && own.n > seen.n);
}

function numbered(moments: readonly Moment[]): readonly AllocationEvent[] {
  let at = -1;
  let n = 0;
  return moments.map((moment) => {
    n = moment.at === at ? n + 1 : 0;
    at = moment.at;
    return { ...moment, nodes: moment.nodes ?? [], cursor: `${at}:${n}` };
  });
}

const ENDS: readonly string[] = ["completed", "failed", "cancelled"];
const isEnd = ({ kind, type }: Moment): boolean => type !== "scaling" && ENDS.includes(kind);

function attemptMoments(past: PastAttempt): Moment[] {
  const { attempt, nodes, nodeCount, placedAt, startedAt, endedAt, to, cause, failure, why } = past;
  const scores = { total: past.scoreMilli };
  const moments: Moment[] = [placed({ at: placedAt, attempt, nodes, scores }, nodeCount, past.backfilled)];
  if (startedAt !== null)
    moments.push({ at: startedAt, type: "state", kind: "started", text: "Started.", attempt, nodes });
  if (failure !== undefined) moments.push({ at: endedAt, attempt, nodes, ...failed(failure) });
  if (to === "suspended") {
    const text = `Suspended after a checkpoint${why === undefined ? "" : `: ${why}`}.`;
    return [...moments, { at: endedAt, type: "preemption", kind: "suspended", text, attempt, nodes }];
  }
  const preempted = cause === "preempted";
  return [
    ...moments,
    {
      at: endedAt,
      type: preempted ? "preemption" : "state",
      kind: preempted ? "preempted" : "requeued",
      text: preempted
        ? `Preempted, and queued again${why === undefined ? "" : `: ${why}`}.`
        : `Queued again: ${cause.replaceAll("_", " ")}.`,
      attempt,
      nodes,
      reason: cause,
    },
  ];
}

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
  moment: Pick<Moment, "at" | "attempt" | "nodes" | "scores">,
  count: number,
  backfilled: boolean,
): Moment {
  const score = ((moment.scores?.total ?? 0) / 1000).toFixed(3);
  const where = count === 1 ? "1 node" : `${count} nodes`;
  const text = `Placed on ${where}${backfilled ? " by backfill" : ""} with a score of ${score}.`;
  return { ...moment, type: "decision", kind: "placed", text };
}

/** The attempt that it is in, or ended with. */
function presentMoments({ phase, attempt, backfilled, scores }: Allocation): Moment[] {
  if (!isPlaced(phase) && !isFinal(phase)) return [];
  const { nodes } = phase;
  const moments: Moment[] = [];
  if (phase.placedAt !== undefined)
    moments.push(placed({ at: phase.placedAt, attempt, nodes, scores }, nodes.length, backfilled));
  const startedAt = phase.kind === "staging" ? null : phase.startedAt;
  if (startedAt !== null)
    moments.push({ at: startedAt, type: "state", kind: "started", text: "Started.", attempt, nodes });
  if (isFinal(phase)) moments.push(end(phase, attempt));
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
