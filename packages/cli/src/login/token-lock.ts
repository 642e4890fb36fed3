// The lock of the token file: a second file, created exclusively, so that one command at a time changes tokens. A lock
// is stale when its process on this host has ended, or when it is older than any renewal.

import { randomUUID } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ProblemError } from "@lattice/wire";

/** Longer than the requests of a renewal may take. */
const STALE_MS = 60_000;
/** Longer than STALE_MS, so that a waiting command sees the lock become stale. */
const ACQUIRE_TIMEOUT_MS = 90_000;
const POLL_MS = 25;

export async function withLock<T>(path: string | null, work: () => T | Promise<T>): Promise<T> {
  if (path === null) throw new ProblemError("invalid_argument", { detail: "HOME is not set", hint: "Set HOME." });
  const release = await acquire(`${path}.lock`);
  try {
    return await work();
  } finally {
    release();
  }
}

async function acquire(lock: string): Promise<() => void> {
  mkdirSync(dirname(lock), { recursive: true, mode: 0o700 });
  const mine = `${hostname()} ${process.pid} ${randomUUID()}`;
  for (const until = Date.now() + ACQUIRE_TIMEOUT_MS; ; ) {
    if (createLock(lock, mine)) return () => void (contentOf(lock) === mine && rmSync(lock, { force: true }));
    const seen = contentOf(lock);
    if (seen !== null && isStale(lock, seen)) removeStaleLock(lock, seen);
    else if (Date.now() > until)
      throw new ProblemError("conflict", {
        detail: `another command holds ${lock}`,
        hint: `If no other lattice command runs: rm ${lock}`,
      });
    else await sleep(POLL_MS);
  }
}

function createLock(lock: string, content: string): boolean {
  try {
    writeFileSync(lock, content, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Returns null when the lock is gone. */
function contentOf(lock: string): string | null {
  try {
    return readFileSync(lock, "utf8");
  } catch {
    return null;
  }
}

function isStale(lock: string, content: string): boolean {
  const [host, pid] = content.split(" ");
  if (host === hostname() && !isAlive(Number(pid))) return true;
  const age = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
  return age !== undefined && Date.now() - age > STALE_MS;
}

/** EPERM means that the process exists but belongs to another user. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Two commands may find the lock stale at once; the second must not remove the new lock of the first. */
function removeStaleLock(lock: string, seen: string): void {
  const aside = `${lock}.${randomUUID()}`;
  try {
    renameSync(lock, aside);
    if (contentOf(aside) !== seen) linkSync(aside, lock);
  } catch {
    // Another command removed it first.
  }
  rmSync(aside, { force: true });
}
