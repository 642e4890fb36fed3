// The snapshots of one log. The newest few are kept, the newest valid one is loaded, and the oldest valid one limits
// truncation.

import { join } from "node:path";
import type { LogIndex, Term } from "@lattice/core";
import type { SnapshotInfo } from "../contract/replicated-log.ts";
import { createSerialQueue } from "../contract/serial-queue.ts";
import { asLogError, type Files, type OpenFile } from "./files.ts";
import {
  parseSnapshotName,
  readLines,
  type SnapshotName,
  snapshotName,
  type VerifiedSnapshot,
  verifySnapshot,
  writeSnapshot,
} from "./snapshot-file.ts";

export interface Snapshots {
  save(at: { readonly index: LogIndex; readonly term: Term }, lines: Iterable<string>): Promise<SnapshotInfo>;
  load(): Promise<{ readonly info: SnapshotInfo; readonly lines: AsyncIterable<string> } | null>;
  /** Returns the index of the oldest snapshot that verifies; 0 when there is none. */
  oldestIndex(): Promise<number>;
  newest(): SnapshotInfo | null;
}

interface SnapshotsOptions {
  readonly files: Files;
  readonly dir: string;
  readonly keep: number;
  readonly nowMs: () => number;
  readonly onWarning: (text: string) => void;
}

export async function openSnapshots({ files, dir, keep, nowMs, onWarning }: SnapshotsOptions): Promise<Snapshots> {
  const inTurn = createSerialQueue();
  /** Names known to verify, because this process wrote or read them. */
  const good = new Set<string>();
  let newest: SnapshotInfo | null = null;

  /** Newest first. */
  const kept = async (): Promise<readonly SnapshotName[]> => {
    const names = (await files.list(dir)).map(parseSnapshotName).filter((name) => name !== null);
    return names.sort((a, b) => b.index - a.index || b.term - a.term);
  };

  const tryVerify = async (name: SnapshotName): Promise<VerifiedSnapshot | null> => {
    const path = join(dir, snapshotName(name));
    try {
      const verified = await withFile(files, path, (file) => verifySnapshot(file, name));
      good.add(snapshotName(name));
      return verified;
    } catch (cause) {
      good.delete(snapshotName(name));
      onWarning(`${path}: not usable: ${cause instanceof Error ? cause.message : String(cause)}`);
      return null;
    }
  };

  const prune = async (): Promise<void> => {
    for (const name of (await kept()).slice(keep)) {
      good.delete(snapshotName(name));
      await files.remove(join(dir, snapshotName(name)));
    }
  };

  for (const name of await files.list(dir)) {
    if (name.endsWith(".jsonl.tmp")) await files.remove(join(dir, name));
  }
  for (const name of await kept()) {
    const verified = await tryVerify(name);
    if (verified === null) continue;
    newest = verified.info;
    break;
  }

  return {
    newest: () => newest,
    save: (at, lines) =>
      inTurn(async () => {
        try {
          const info = await writeSnapshot(files, dir, { index: at.index, term: at.term, takenAtMs: nowMs() }, lines);
          good.add(snapshotName(at));
          if (newest === null || info.index >= newest.index) newest = info;
          await prune();
          return info;
        } catch (cause) {
          if (cause instanceof RangeError) throw cause;
          throw asLogError(cause, `saving the snapshot at ${at.index}`);
        }
      }),
    async load() {
      for (const name of await kept()) {
        const verified = await tryVerify(name);
        if (verified === null) continue;
        return { info: verified.info, lines: linesOf(files, join(dir, snapshotName(name)), verified.bodyBytes) };
      }
      return null;
    },
    async oldestIndex() {
      for (const name of [...(await kept())].reverse()) {
        if (good.has(snapshotName(name)) || (await tryVerify(name)) !== null) return name.index;
      }
      return 0;
    },
  };
}

/** Opens the file at the first line, so that an unused snapshot keeps no file open. */
async function* linesOf(files: Files, path: string, bodyBytes: number): AsyncGenerator<string, void, undefined> {
  const file = await files.open(path, "read");
  try {
    yield* readLines(file, bodyBytes);
  } finally {
    await file.close();
  }
}

async function withFile<T>(files: Files, path: string, use: (file: OpenFile) => Promise<T>): Promise<T> {
  const file = await files.open(path, "read");
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}
