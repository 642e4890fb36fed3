// Takes a snapshot after a number of entries or bytes, then truncates the log before the previous one. Archived records
// must be durable first: after truncation only the history and the audit archive have them.

import { type LogIndex, logIndex } from "@lattice/core";
import type { Logger } from "pino";
import type { ReplicatedLog } from "../../log/contract/replicated-log.ts";
import type { AuditArchive } from "../audit/archive.ts";
import type { History } from "../history/index.ts";
import type { Replica } from "./replica.ts";

/** Entries vary in size, so the time of a restart depends on bytes: this many are applied in about two seconds. */
const EVERY_BYTES = 32 * 1024 * 1024;

interface Snapshotter {
  /** Takes a snapshot now, unless there is no new entry. */
  now(): Promise<void>;
  close(): Promise<void>;
}

interface Options {
  readonly log: ReplicatedLog;
  readonly replica: Replica;
  readonly history: Pick<History, "flush">;
  readonly audit: Pick<AuditArchive, "flush">;
  readonly everyEntries: number;
  readonly everyBytes?: number;
  /** Servers that share a log share its snapshots, so only one of them takes them. */
  readonly mayTake: () => boolean;
  readonly logger: Logger;
}

export function startSnapshotter(options: Options): Snapshotter {
  const { log, replica, history, audit, everyEntries, everyBytes = EVERY_BYTES, mayTake, logger } = options;
  let newest: LogIndex = log.status().snapshot?.index ?? logIndex(0);
  /** Bytes of the entries in the last snapshot, counted as in the replica. */
  let newestBytes = 0;
  let running: Promise<void> | null = null;
  const due = (index: LogIndex): boolean =>
    replica.isProven() &&
    (index - newest >= everyEntries || (replica.appliedBytes() - newestBytes >= everyBytes && replica.isWarm()));
  const unsubscribe = replica.onApplied((applied) => {
    if (running === null && due(applied.index) && mayTake()) void run();
  });

  return {
    now: () => (mayTake() && replica.isProven() ? run() : Promise.resolve()),
    async close() {
      unsubscribe();
      await running;
    },
  };

  function run(): Promise<void> {
    running ??= take().finally(() => {
      running = null;
    });
    return running;
  }

  async function take(): Promise<void> {
    const previous = newest;
    const previousBytes = newestBytes;
    try {
      const { at, lines } = replica.snapshot();
      if (at.index <= newest) return;
      newest = at.index;
      newestBytes = replica.appliedBytes();
      await history.flush();
      await audit.flush();
      const info = await log.saveSnapshot({ index: at.index, term: at.term }, lines);
      // The entries between the last two snapshots stay, so that watchers and a fallback have them.
      if (previous > 0) await log.truncate(previous);
      logger.info({ index: info.index, bytes: info.bytes }, "snapshot taken");
    } catch (error) {
      newest = previous;
      newestBytes = previousBytes;
      logger.error({ err: error }, "snapshot failed: keeping the log and retrying later");
    }
  }
}
