// The deadline of a checkpoint. A program that makes progress gets half as much time again, once; a program that
// defers gets the time it asks for, up to the limit. Pure: instants are arguments.

import type { ProgramCheckpoint } from "./types.ts";

export interface CheckpointPatience {
  readonly deadlineMs: number;
  readonly extended: boolean;
  readonly deferredMs: number;
  /** The program has made progress since the request. */
  readonly alive: boolean;
}

export const patienceFrom = ({ timeoutMs }: ProgramCheckpoint, nowMs: number): CheckpointPatience => ({
  deadlineMs: nowMs + timeoutMs,
  extended: false,
  deferredMs: 0,
  alive: false,
});

export const seenAlive = (patience: CheckpointPatience): CheckpointPatience =>
  patience.alive ? patience : { ...patience, alive: true };

/** Grants the rest of the limit, even when the program asked for more. */
export function deferBy(
  patience: CheckpointPatience,
  ms: number,
  { maxDeferralMs }: ProgramCheckpoint,
): CheckpointPatience {
  const granted = Math.max(0, Math.min(ms, maxDeferralMs - patience.deferredMs));
  return {
    ...patience,
    alive: true,
    deadlineMs: patience.deadlineMs + granted,
    deferredMs: patience.deferredMs + granted,
  };
}

type Verdict =
  | { readonly kind: "wait"; readonly patience: CheckpointPatience }
  | { readonly kind: "give_up"; readonly message: string };

export function judge(patience: CheckpointPatience, { timeoutMs }: ProgramCheckpoint, nowMs: number): Verdict {
  if (nowMs < patience.deadlineMs) return { kind: "wait", patience };
  if (patience.alive && !patience.extended) {
    const deadlineMs = patience.deadlineMs + timeoutMs / 2;
    return { kind: "wait", patience: { ...patience, extended: true, deadlineMs } };
  }
  const seconds = timeoutMs / 1000;
  const message = patience.extended
    ? `it was not complete after ${seconds} s and half as long again`
    : `the program did not answer within ${seconds} s`;
  return { kind: "give_up", message };
}
