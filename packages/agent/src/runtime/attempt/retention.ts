// Ended attempts keep their logs until newer ones need the space: by count and by bytes, oldest first. The newest is
// always kept. Removal runs in the background, one folder at a time; a folder that cannot be removed is left.

import { statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

export interface RetentionLimits {
  readonly attempts: number;
  readonly bytes: number;
}

/** Enough for a day of ordinary jobs on one node. */
export const RETENTION: RetentionLimits = { attempts: 2_000, bytes: 4 * 1024 ** 3 };

/** The block size of `stat`. */
const STAT_BLOCK_BYTES = 512;

export interface LogRetention {
  /** Adopts the archived attempts of an earlier run. */
  load(): Promise<void>;
  added(key: string): void;
  has(key: string): boolean;
}

interface RetentionOptions {
  readonly folder: string;
  readonly limits: RetentionLimits;
  /** Removes the folder of an attempt, which may hold files of its user. */
  readonly remove: (key: string) => Promise<void>;
  readonly dropped: (key: string) => void;
}

export function retention({ folder, limits, remove, dropped }: RetentionOptions): LogRetention {
  /** Oldest first, with the bytes of its logs. */
  const kept = new Map<string, number>();
  let bytes = 0;
  let sweeping: Promise<void> | null = null;

  function keep(key: string, size: number): void {
    bytes += size - (kept.get(key) ?? 0);
    kept.delete(key);
    kept.set(key, size);
    if (exceedsLimit()) sweeping ??= sweep().finally(() => (sweeping = null));
  }

  const exceedsLimit = (): boolean => kept.size > 1 && (kept.size > limits.attempts || bytes > limits.bytes);

  /** The front of a log that waited for its store may have been freed since. */
  function recount(): void {
    bytes = 0;
    for (const key of kept.keys()) {
      const size = logBytes(join(folder, key));
      kept.set(key, size);
      bytes += size;
    }
  }

  async function sweep(): Promise<void> {
    recount();
    while (exceedsLimit()) {
      const [oldest] = kept;
      if (oldest === undefined) return;
      const [key, size] = oldest;
      kept.delete(key);
      bytes -= size;
      dropped(key);
      await remove(key).catch(() => undefined);
    }
  }

  return {
    has: (key) => kept.has(key),
    added(key) {
      keep(key, logBytes(join(folder, key)));
    },
    async load() {
      const names = await readdir(folder).catch(() => []);
      const found = names.map((name) => ({ name, ...describe(join(folder, name)) }));
      found.sort((a, b) => a.changedAtMs - b.changedAtMs || (a.name < b.name ? -1 : 1));
      for (const { name, size } of found) keep(name, size);
    },
  };
}

function describe(dir: string): { changedAtMs: number; size: number } {
  const changedAtMs = statSync(dir, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return { changedAtMs, size: logBytes(dir) };
}

function logBytes(dir: string): number {
  const sizes = ["stdout", "stderr"].map((name) => {
    const found = statSync(join(dir, name), { throwIfNoEntry: false });
    // Freed parts of a log take no space.
    return found === undefined ? 0 : Math.min(found.size, found.blocks * STAT_BLOCK_BYTES);
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}
