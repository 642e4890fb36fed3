// Takes scheduled backups while this server leads, and then deletes expired ones. Results are logged and counted; a
// failure is retried and affects nothing else.

import { duration, type Instant, instant } from "@lattice/core";
import type { Logger } from "pino";
import { type Clock, sleep } from "../../../base/clock.ts";
import type { BackupConfig } from "../../../base/config/index.ts";
import type { Backups } from "../backups.ts";
import { openStore } from "../places.ts";
import { decideExpired } from "../retention.ts";
import { decideBackup } from "./decide.ts";

/** Interval of the check whether this server leads and a backup is due. */
const CHECK_INTERVAL = duration(5_000);

interface BackupMetrics {
  backup(result: "written" | "failed", written: { readonly bytes: number; readonly atMs: number } | null): void;
}

export interface BackupSchedule {
  close(): Promise<void>;
}

interface Options {
  readonly config: BackupConfig;
  readonly backups: Backups;
  readonly leads: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: BackupMetrics;
}

export function startBackupSchedule(options: Options): BackupSchedule {
  const { config, backups, leads, clock, logger, metrics } = options;
  const stop = new AbortController();
  const { interval } = config;
  const running = interval === null ? Promise.resolve() : run(interval);
  return {
    async close() {
      stop.abort();
      await running;
    },
  };

  async function run(every: NonNullable<BackupConfig["interval"]>): Promise<void> {
    let taken: readonly Instant[] | null = null;
    let failedAt: Instant | null = null;
    const due = (those: readonly Instant[]): boolean =>
      decideBackup({ now: clock.now(), interval: every, taken: those, failedAt }) === 0;
    while (!stop.signal.aborted) {
      try {
        // A new leader first lists the backups that others have taken.
        if (!leads()) taken = null;
        else if (due(taken ?? [])) {
          taken ??= await times();
          if (due(taken)) {
            await takeOne();
            taken = null;
          }
          failedAt = null;
        }
      } catch (error) {
        if (stop.signal.aborted) return;
        failedAt = clock.now();
        metrics.backup("failed", null);
        logger.error({ err: error, destination: config.destination }, "scheduled backup failed; retrying");
      }
      await sleep(clock, duration(Math.min(CHECK_INTERVAL, every)), stop.signal);
    }
  }

  async function times(): Promise<readonly Instant[]> {
    const stored = await backups.list("", stop.signal);
    return stored.filter(({ metadata }) => backups.isOwn(metadata)).map(({ createdAtMs }) => instant(createdAtMs));
  }

  async function takeOne(): Promise<void> {
    const began = clock.worked();
    const { source, bytes } = await backups.create("", stop.signal);
    metrics.backup("written", { bytes, atMs: clock.now() });
    logger.info({ source, ms: Math.round(clock.worked() - began) }, "scheduled backup done");
    await prune().catch((error: unknown) => {
      if (!stop.signal.aborted) logger.warn({ err: error }, "expired backups not deleted");
    });
  }

  async function prune(): Promise<void> {
    const store = openStore(config.destination, config);
    const listed = await backups.list("", stop.signal);
    // Other clusters may use the same place.
    const own = listed.filter(({ metadata }) => backups.isOwn(metadata));
    const kept = own.map(({ name, createdAtMs }) => ({ name, createdAtMs, whole: true }));
    for (const name of decideExpired(kept, clock.now(), config.retention)) {
      await store.remove(name, stop.signal);
      logger.info({ backup: name }, "expired backup deleted");
    }
  }
}
