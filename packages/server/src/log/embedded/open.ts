// The log on the local disk: the default engine, one server, no set-up. Checksummed segments, one
// write and one fdatasync per append, snapshots beside them. It survives kill -9 and a torn last
// write, and a full disk costs nothing but the appends refused meanwhile. It does not replicate: the
// only candidates are those of this process.

import { join } from "node:path";
import type { LogIndex, Term } from "@lattice/core";
import { createBell } from "../bell.ts";
import { checkAppend } from "../check-append.ts";
import { createElection } from "../election.ts";
import { follow } from "../follow.ts";
import { createInTurn } from "../in-turn.ts";
import { type Leadership, LogError, type ReplicatedLog, type StoredEntry } from "../replicated-log.ts";
import { type Appender, openAppender } from "./appender.ts";
import { createDiskReader } from "./disk-reader.ts";
import { asLogError, diskFiles, type Files } from "./files.ts";
import { lockDirectory } from "./lock.ts";
import { createProbe } from "./probe.ts";
import { createRecent } from "./recent.ts";
import { recoverSegments } from "./recover.ts";
import type { Segment } from "./segment.ts";
import { openSnapshots, type Snapshots } from "./snapshots.ts";
import { readTerm, writeTerm } from "./term-file.ts";

const SEGMENT_BYTES = 64 * 1024 * 1024;
const KEEP_SNAPSHOTS = 5;
const MAX_ENTRY_BYTES = 4 * 1024 * 1024;

export interface EmbeddedLogOptions {
  readonly dir: string;
  readonly segmentBytes?: number;
  readonly keepSnapshots?: number;
  readonly maxEntryBytes?: number;
  /** File operations, for tests of a failing disk. */
  readonly fs?: Files;
  /** Damage that was healed or passed over, in words. */
  readonly onWarning?: (text: string) => void;
  readonly nowMs?: () => number;
}

/** What lies in the directory, open and checked. */
interface Store {
  readonly files: Files;
  readonly dir: string;
  readonly segments: Segment[];
  readonly snapshots: Snapshots;
  readonly appender: Appender;
  readonly term: number;
  release(): Promise<void>;
}

export async function openEmbeddedLog(options: EmbeddedLogOptions): Promise<ReplicatedLog> {
  const store = await openStore(options);
  return serve(store, options.maxEntryBytes ?? MAX_ENTRY_BYTES, options.onWarning ?? ignore);
}

async function openStore(options: EmbeddedLogOptions): Promise<Store> {
  const { dir, fs: files = diskFiles, onWarning = ignore } = options;
  const snapshotDir = join(dir, "snapshots");
  await files.makeDir(snapshotDir);
  const lock = await lockDirectory(dir);
  try {
    const snapshots = await openSnapshots({
      files,
      dir: snapshotDir,
      keep: options.keepSnapshots ?? KEEP_SNAPSHOTS,
      nowMs: options.nowMs ?? Date.now,
      onWarning,
    });
    const { segments, lastTerm } = await recoverSegments(files, dir, onWarning);
    const newest = snapshots.newest();
    await beginAfterSnapshot(files, dir, segments, newest?.index ?? 0, onWarning);
    const term = Math.max(await readTerm(files, dir), lastTerm, newest?.term ?? 0);
    const appender = await openAppender({
      files,
      dir,
      segments,
      segmentBytes: options.segmentBytes ?? SEGMENT_BYTES,
      firstIndex: (newest?.index ?? 0) + 1,
    });
    return { files, dir, segments, snapshots, appender, term, release: () => lock.release() };
  } catch (cause) {
    await lock.release();
    throw cause instanceof LogError ? cause : asLogError(cause, `opening ${dir}`);
  }
}

/** A snapshot put there by a restore, ahead of the entries: the log goes on after it. */
async function beginAfterSnapshot(
  files: Files,
  dir: string,
  segments: Segment[],
  snapshotIndex: number,
  onWarning: (text: string) => void,
): Promise<void> {
  const last = segments.at(-1);
  if (last === undefined || last.lastIndex >= snapshotIndex) return;
  onWarning(`${dir}: the entries end at ${last.lastIndex}, before the snapshot at ${snapshotIndex}; they are dropped`);
  // From the oldest on, so that what a crash leaves has no gap.
  for (const segment of segments.splice(0)) await files.remove(segment.path);
  await files.syncDir(dir);
}

function serve(store: Store, maxEntryBytes: number, onWarning: (text: string) => void): ReplicatedLog {
  const { files, dir, segments, snapshots, appender } = store;
  const handle = {};
  const writes = createInTurn();
  const bell = createBell();
  const recent = createRecent();
  let term = store.term;
  let closed = false;
  let closing: Promise<void> | null = null;
  let unwritable: string | null = null;

  const firstIndex = (): number => segments[0]?.firstIndex ?? 1;
  const lastIndex = (): number => segments.at(-1)?.lastIndex ?? 0;
  const refuseClosed = (): void => {
    if (closed) throw new LogError("closed", "the log is closed");
  };
  const segmentOf = (index: number): Segment | null =>
    segments.findLast((segment) => segment.firstIndex <= index && index <= segment.lastIndex) ?? null;

  const election = createElection({
    settled: () => writes.idle(),
    nextTerm: async () => {
      try {
        await writeTerm(files, dir, term + 1);
      } catch (cause) {
        onWarning(asLogError(cause, `writing term ${term + 1}`).message);
        throw cause;
      }
      term += 1;
      return term as Term;
    },
  });

  const probe = createProbe(files, dir, (write) =>
    writes(async () => {
      if (closed || unwritable === null) return true;
      await appender.repair();
      await write();
      unwritable = null;
      return true;
    }),
  );

  const write = async (leadership: Leadership, entries: readonly StoredEntry[]): Promise<void> => {
    checkAppend(leadership, entries, {
      closed,
      leads: election.holds(leadership),
      lastIndex: lastIndex(),
      maxEntryBytes,
    });
    if (entries.length === 0) return;
    try {
      await appender.append(entries);
    } catch (cause) {
      if (cause instanceof LogError && cause.code !== "too_large") {
        unwritable = cause.message;
        probe.start();
      }
      throw cause;
    }
    unwritable = null;
    recent.add(entries);
    bell.ring();
  };

  const shut = async (): Promise<void> => {
    closed = true;
    probe.stop();
    election.withdraw(handle);
    bell.ring();
    await writes.idle();
    await appender.close();
    await store.release();
  };

  return {
    maxEntryBytes,
    async campaign(candidate, signal) {
      refuseClosed();
      return election.campaign(handle, candidate, signal);
    },
    append: (leadership, entries) => writes(() => write(leadership, entries)),
    async *read(from, signal) {
      const disk = createDiskReader(files, segmentOf);
      try {
        const fetch = async (index: LogIndex): Promise<readonly StoredEntry[]> =>
          recent.from(index) ?? (await disk.fetch(index));
        yield* follow({ bell, closed: () => closed, firstIndex, lastIndex, fetch }, from, signal);
      } finally {
        await disk.close();
      }
    },
    async head() {
      refuseClosed();
      return lastIndex() as LogIndex;
    },
    async saveSnapshot(at, lines) {
      refuseClosed();
      if (at.index > lastIndex()) {
        throw new LogError("wrong_index", `a snapshot at ${at.index}, but the log ends at ${lastIndex()}`);
      }
      return snapshots.save(at, lines);
    },
    async loadSnapshot() {
      refuseClosed();
      return snapshots.load();
    },
    async truncate(through) {
      refuseClosed();
      const upTo = Math.min(through, await snapshots.oldestIndex());
      await writes(async () => {
        // The last segment stays: it is the one being written.
        while (segments.length > 1 && (segments[0]?.lastIndex ?? upTo) <= upTo) {
          const oldest = segments.shift();
          if (oldest !== undefined) await files.remove(oldest.path);
        }
        await files.syncDir(dir);
      });
    },
    status: () => ({
      engine: "embedded",
      term: term as Term,
      firstIndex: firstIndex() as LogIndex,
      lastIndex: lastIndex() as LogIndex,
      snapshot: snapshots.newest(),
      bytes: segments.reduce((sum, segment) => sum + segment.end, 0),
      leader: election.leader()?.candidate ?? null,
      unwritable: closed ? "the log is closed" : unwritable,
    }),
    present: () => [],
    async members() {
      refuseClosed();
      const leader = election.leader();
      return [{ id: leader?.candidate ?? "local", name: dir, leader: leader !== null, healthy: unwritable === null }];
    },
    close() {
      closing ??= shut();
      return closing;
    },
  };
}

const ignore = (): void => undefined;
