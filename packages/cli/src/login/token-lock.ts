// Who may change the file of tokens: one command at a time, by a file beside it that only one can make. One that ended before
// it took its file away is known by its process where that ran here, else by the file's age.

import { randomUUID } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ProblemError } from "@lattice/wire";

/** Longer than a provider is waited for. */
const STALE_MS = 60_000;
/** Longer than a lock can be held without getting stale. */
const PATIENCE_MS = 90_000;
const LOOK_EVERY_MS = 25;

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
  for (const until = Date.now() + PATIENCE_MS; ; ) {
    if (made(lock, mine)) return () => void (contentOf(lock) === mine && rmSync(lock, { force: true }));
    const seen = contentOf(lock);
    if (seen !== null && isStale(lock, seen)) takeAway(lock, seen);
    else if (Date.now() > until)
      throw new ProblemError("conflict", {
        detail: `another command holds ${lock}`,
        hint: "Remove it if none does.",
      });
    else await sleep(LOOK_EVERY_MS);
  }
}

function made(lock: string, content: string): boolean {
  try {
    writeFileSync(lock, content, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Null: it has gone. */
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

/** One that somebody else may be signalled by is alive too. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Two may find it stale at once; the second must not take away what the first has put there. */
function takeAway(lock: string, seen: string): void {
  const aside = `${lock}.${randomUUID()}`;
  try {
    renameSync(lock, aside);
    if (contentOf(aside) !== seen) linkSync(aside, lock);
  } catch {
    // Somebody else was faster.
  }
  rmSync(aside, { force: true });
}
