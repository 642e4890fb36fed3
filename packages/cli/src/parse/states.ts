// Parses lists of states in flags, such as "running,pending", in any case.

import { InvalidArgumentError } from "commander";

export const DAG_STATES = ["running", "completed", "failed", "cancelled"] as const;

export const ALLOCATION_STATES = [
  "pending",
  "staging",
  "running",
  "checkpointing",
  "suspended",
  "completed",
  "failed",
  "cancelled",
] as const;

/** Final states: an allocation in one of them never changes again. */
export const ENDED_STATES = ["completed", "failed", "cancelled"] as const;

export const NODE_STATES = [
  "unknown",
  "booting",
  "ready",
  "degraded",
  "draining",
  "drained",
  "down",
  "failed",
] as const;

export function parseStates<State extends string>(text: string, known: readonly State[]): readonly State[] {
  return text.split(",").map((word) => {
    const state = known.find((one) => one === word.trim().toLowerCase());
    if (state === undefined) throw new InvalidArgumentError(`Known states: ${known.join(", ")}.`);
    return state;
  });
}
