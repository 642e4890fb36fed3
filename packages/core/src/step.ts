// What a command's body gets: the state, the stamp of its entry, and two outboxes. Outcomes are
// built here so that every refusal has the same shape.

import type { Ended } from "./allocation/ended.ts";
import type { AllocationId, Instant, LogIndex } from "./ids.ts";
import type { Effect, Event, FieldProblem, Outcome, Refusal, RefusalCode } from "./outcome.ts";
import type { State } from "./state/state.ts";

export interface Step {
  readonly state: State;
  readonly index: LogIndex;
  readonly at: Instant;
  /** The newest in use: what a later one brought must not happen yet. */
  readonly version: number;
  readonly events: Event[];
  readonly effects: Effect[];
  /** What has ended and is not settled yet: others may wait for it. */
  readonly ended: Ended[];
  /** Task groups of which something has moved. */
  readonly stirred: Set<AllocationId>;
}

export const accepted = (id: string | null): Outcome => ({ kind: "accepted", id });

/** It was so already. */
export const unchanged = (id: string | null): Outcome => ({ kind: "accepted", id, repeated: true });

export const rejected = (refusal: Refusal): Outcome => ({ kind: "rejected", refusal });

export const refuse = (code: RefusalCode, detail: string, figures?: Readonly<Record<string, number>>): Outcome =>
  rejected(figures === undefined ? { code, detail } : { code, detail, figures });

export function refuseFields(fields: readonly FieldProblem[]): Outcome {
  const detail = fields.map((problem) => `${problem.field}: ${problem.detail}`).join("; ");
  return rejected({ code: "invalid_argument", detail, fields });
}

/** Longest piece of a user's text that an answer repeats. */
const QUOTED_MAX = 80;

export const quote = (text: string): string =>
  JSON.stringify(text.length <= QUOTED_MAX ? text : `${text.slice(0, QUOTED_MAX)}...`);
