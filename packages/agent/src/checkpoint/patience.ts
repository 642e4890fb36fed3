// How long a checkpoint is waited for. Its time is up after the timeout; a program that is seen to go on gets
// half as much again, once; one that puts it off is given the time it asks for, up to the limit, and after
// that no more. Pure: instants come in.

import type { Wanted } from "./types.ts";

export interface Patience {
  readonly deadlineMs: number;
  readonly extended: boolean;
  readonly deferredMs: number;
  /** It has been seen to go on since it was asked. */
  readonly alive: boolean;
}

export const patienceFrom = ({ timeoutMs }: Wanted, nowMs: number): Patience => ({
  deadlineMs: nowMs + timeoutMs,
  extended: false,
  deferredMs: 0,
  alive: false,
});

export const seenAlive = (patience: Patience): Patience => (patience.alive ? patience : { ...patience, alive: true });

/** What is left of the limit is granted, also where more was asked for. */
export function deferBy(patience: Patience, ms: number, { maxDeferralMs }: Wanted): Patience {
  const granted = Math.max(0, Math.min(ms, maxDeferralMs - patience.deferredMs));
  return {
    ...patience,
    alive: true,
    deadlineMs: patience.deadlineMs + granted,
    deferredMs: patience.deferredMs + granted,
  };
}

export type Verdict =
  | { readonly kind: "wait"; readonly patience: Patience }
  | { readonly kind: "give_up"; readonly message: string };

export function judge(patience: Patience, { timeoutMs }: Wanted, nowMs: number): Verdict {
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
