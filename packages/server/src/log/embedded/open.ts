// The log on the local disk: the default engine, for one server, without setup. It keeps checksummed segments and snapshots, with one
// write and one fdatasync per append. It survives kill -9 and a torn last write; a full disk costs only the appends refused
// meanwhile. It does not replicate: all candidates are in this process.

import { join } from "node:path";
import { type LogIndex, logIndex, type Term, term } from "@lattice/core";
import { checkAppend } from "../contract/check-append.ts";
import { createElection, type Election } from "../contract/election.ts";
import { follow } from "../contract/follow.ts";
import { createNotifier } from "../contract/notifier.ts";
import {
  type Leadership,
  LogError,
  type LogMember,
  type LogServer,
  type LogStatus,
  type ReplicatedLog,
  type SnapshotInfo,
  type StoredEntry,
} from "../contract/replicated-log.ts";
import { createSerialQueue } from "../contract/serial-queue.ts";
import { type Appender, openAppender } from "./appender.ts";
import { createDiskReader } from "./disk-reader.ts";
import { asLogError, diskFiles, type Files } from "./files.ts";
import { lockDirectory } from "./lock.ts";
import { createProbe, type Probe } from "./probe.ts";
import { createRecent } from "./recent.ts";
import { recoverSegments } from "./recover.ts";
import type { Segment } from "./segment.ts";
import { openSnapshots, type Snapshots } from "./snapshots.ts";
import { readTerm, writeTerm } from "./term-file.ts";

const SEGMENT_BYTES = 64 * 1024 * 1024;
const KEEP_SNAPSHOTS = 5;
const MAX_ENTRY_BYTES = 4 * 1024 * 1024;

interface EmbeddedLogOptions {
  readonly dir: string;
  readonly segmentBytes?: number;
  readonly keepSnapshots?: number;
  readonly maxEntryBytes?: number;
  /** File operations, for tests of a failing disk. */
  readonly fs?: Files;
  /** Receives a description of damage that was repaired or skipped. */
  readonly onWarning?: (text: string) => void;
  readonly nowMs?: () => number;
}

/** The files of the directory, open and verified. */
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
  return new EmbeddedLog(store, options.maxEntryBytes ?? MAX_ENTRY_BYTES, options.onWarning ?? ignore);
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
    await startAfterSnapshot(files, dir, segments, newest?.index ?? 0, onWarning);
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

/** A restore puts a snapshot ahead of the entries: the log continues after it. */
async function startAfterSnapshot(
  files: Files,
  dir: string,
  segments: Segment[],
  snapshotIndex: number,
  onWarning: (text: string) => void,
): Promise<void> {
  const last = segments.at(-1);
  if (last === undefined || last.lastIndex >= snapshotIndex) return;
  onWarning(`${dir}: dropping the entries up to ${last.lastIndex}: the snapshot at ${snapshotIndex} is newer`);
  // Oldest first, so that a crash leaves no gap.
  for (const segment of segments.splice(0)) await files.remove(segment.path);
  await files.syncDir(dir);
}

class EmbeddedLog implements ReplicatedLog {
  readonly maxEntryBytes: number;
  readonly #store: Store;
  readonly #writes = createSerialQueue();
  readonly #changes = createNotifier();
  readonly #recent = createRecent();
  readonly #election: Election;
  readonly #probe: Probe;
  /** Owner of campaigns by this handle. */
  readonly #owner = {};
  #term: number;
  #isClosed = false;
  #closing: Promise<void> | null = null;
  #unwritable: string | null = null;

  constructor(store: Store, maxEntryBytes: number, onWarning: (text: string) => void) {
    this.maxEntryBytes = maxEntryBytes;
    this.#store = store;
    this.#term = store.term;
    this.#election = createElection({
      settled: () => this.#writes.idle(),
      nextTerm: () => this.#nextTerm(onWarning),
    });
    this.#probe = createProbe(store.files, store.dir, (write) => this.#writes(() => this.#repair(write)));
  }

  async campaign(candidate: string, signal: AbortSignal): Promise<Leadership> {
    this.#refuseClosed();
    return this.#election.campaign(this.#owner, candidate, signal);
  }

  append(leadership: Leadership, entries: readonly StoredEntry[]): Promise<void> {
    return this.#writes(() => this.#write(leadership, entries));
  }

  async *read(from: LogIndex, signal: AbortSignal): AsyncGenerator<readonly StoredEntry[], void, undefined> {
    const disk = createDiskReader(this.#store.files, (index) => this.#segmentOf(index));
    try {
      yield* follow(
        {
          changes: this.#changes,
          closed: () => this.#isClosed,
          firstIndex: () => this.#firstIndex,
          lastIndex: () => this.#lastIndex,
          fetch: async (index) => this.#recent.from(index) ?? (await disk.fetch(index)),
        },
        from,
        signal,
      );
    } finally {
      await disk.close();
    }
  }

  async head(): Promise<LogIndex> {
    this.#refuseClosed();
    return logIndex(this.#lastIndex);
  }

  async saveSnapshot(at: Parameters<ReplicatedLog["saveSnapshot"]>[0], lines: Iterable<string>): Promise<SnapshotInfo> {
    this.#refuseClosed();
    if (at.index > this.#lastIndex) {
      throw new LogError("wrong_index", `a snapshot at ${at.index}, but the log ends at ${this.#lastIndex}`);
    }
    return this.#store.snapshots.save(at, lines);
  }

  async loadSnapshot(): ReturnType<ReplicatedLog["loadSnapshot"]> {
    this.#refuseClosed();
    return this.#store.snapshots.load();
  }

  async truncate(through: LogIndex): Promise<void> {
    this.#refuseClosed();
    const { files, dir, segments, snapshots } = this.#store;
    const upTo = Math.min(through, await snapshots.oldestIndex());
    await this.#writes(async () => {
      // The last segment stays: it is the one being written.
      while (segments.length > 1 && (segments[0]?.lastIndex ?? upTo) <= upTo) {
        const oldest = segments.shift();
        if (oldest !== undefined) await files.remove(oldest.path);
      }
      await files.syncDir(dir);
    });
  }

  status(): LogStatus {
    const { segments, snapshots } = this.#store;
    return {
      engine: "embedded",
      term: term(this.#term),
      firstIndex: logIndex(this.#firstIndex),
      lastIndex: logIndex(this.#lastIndex),
      snapshot: snapshots.newest(),
      bytes: segments.reduce((sum, segment) => sum + segment.end, 0),
      leader: this.#election.leader()?.candidate ?? null,
      unwritable: this.#isClosed ? "the log is closed" : this.#unwritable,
    };
  }

  present(): readonly LogServer[] {
    return [];
  }

  async members(): Promise<readonly LogMember[]> {
    this.#refuseClosed();
    const leader = this.#election.leader();
    const healthy = this.#unwritable === null;
    return [{ id: leader?.candidate ?? "local", name: this.#store.dir, leader: leader !== null, healthy }];
  }

  close(): Promise<void> {
    this.#closing ??= this.#shut();
    return this.#closing;
  }

  get #firstIndex(): number {
    return this.#store.segments[0]?.firstIndex ?? 1;
  }

  get #lastIndex(): number {
    return this.#store.segments.at(-1)?.lastIndex ?? 0;
  }

  #refuseClosed(): void {
    if (this.#isClosed) throw new LogError("closed", "the log is closed");
  }

  #segmentOf(index: number): Segment | null {
    const holds = (segment: Segment) => segment.firstIndex <= index && index <= segment.lastIndex;
    return this.#store.segments.findLast(holds) ?? null;
  }

  async #nextTerm(onWarning: (text: string) => void): Promise<Term> {
    const next = this.#term + 1;
    try {
      await writeTerm(this.#store.files, this.#store.dir, next);
    } catch (cause) {
      onWarning(asLogError(cause, `writing term ${next}`).message);
      throw cause;
    }
    this.#term = next;
    return term(next);
  }

  async #write(leadership: Leadership, entries: readonly StoredEntry[]): Promise<void> {
    const leads = this.#election.holds(leadership);
    const { maxEntryBytes } = this;
    checkAppend(leadership, entries, { closed: this.#isClosed, leads, lastIndex: this.#lastIndex, maxEntryBytes });
    if (entries.length === 0) return;
    try {
      await this.#store.appender.append(entries);
    } catch (cause) {
      if (cause instanceof LogError && cause.code !== "too_large") {
        this.#unwritable = cause.message;
        this.#probe.start();
      }
      throw cause;
    }
    this.#unwritable = null;
    this.#recent.add(entries);
    this.#changes.notify();
  }

  /** Runs a test write; the log is writable again when it succeeds. */
  async #repair(write: () => Promise<void>): Promise<boolean> {
    if (this.#isClosed || this.#unwritable === null) return true;
    await this.#store.appender.repair();
    await write();
    this.#unwritable = null;
    return true;
  }

  async #shut(): Promise<void> {
    this.#isClosed = true;
    this.#probe.stop();
    this.#election.withdraw(this.#owner);
    this.#changes.notify();
    await this.#writes.idle();
    await this.#store.appender.close();
    await this.#store.release();
  }
}

const ignore = (): void => undefined;
