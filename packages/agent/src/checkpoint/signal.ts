// Asking by SIGUSR1: for those processes of the attempt that catch it, since it would end all others. The
// program says that it is done by a file.

import { readFileSync } from "node:fs";
import { signalEach } from "../runtime/isolation/isolation.ts";

/** A program that has just begun may not have come to its handler yet. */
export const CATCHER_WAIT_MS = 5_000;
const SIGUSR1_BIT = 1n << 9n;

/** Of the given ones, those that catch SIGUSR1. */
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
