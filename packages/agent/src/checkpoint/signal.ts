// Requests a checkpoint by SIGUSR1, sent only to processes of the attempt that catch it: it would kill the others. The
// program reports completion by a file.

import { readFileSync } from "node:fs";
import { signalEach } from "../host/isolation/isolation.ts";

/** A program that has just started may not have installed its handler yet. */
export const CATCHER_WAIT_MS = 5_000;
const SIGUSR1_BIT = 1n << 9n;

/** Returns the processes among these that catch SIGUSR1. */
export const catchers = (pids: readonly number[]): readonly number[] => pids.filter(catches);

export const askBySignal = (pids: readonly number[]): void => signalEach(pids, "SIGUSR1");

function catches(pid: number): boolean {
  try {
    const caught = /^SigCgt:\s+([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
    return (BigInt(`0x${caught}`) & SIGUSR1_BIT) !== 0n;
  } catch {
    return false;
  }
}
