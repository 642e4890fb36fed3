// The backups of a server, for the API and the schedule. One is written at a time, from the replica of this server;
// lists and verifications may run meanwhile. Failures are a BackupError or a PlaceError.

import { randomBytes } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Clock } from "../../base/clock.ts";
import type { BackupConfig } from "../../base/config/index.ts";
import { createSerialQueue } from "../../log/contract/serial-queue.ts";
import type { History } from "../history/index.ts";
import type { Replica } from "../replica/replica.ts";
import type { BackupRecord, Backups } from "./backups.ts";
import { asBackupError, BackupError } from "./format/backup-error.ts";
import { type BackupMetadata, backupName } from "./format/format.ts";
import type { BackupStore, LocalCopy, StoredBackup } from "./format/store.ts";
import { allowedBackup, allowedPlace, type Named } from "./places.ts";
import { restoreBackup } from "./restore.ts";
import type { Verification } from "./verification.ts";
import { verifyBackup } from "./verify.ts";
import { type BackupInputs, writeBackup } from "./write.ts";

/** Most backups in a list; the retention keeps about two hundred. */
const MAX_LISTED = 512;
/** Files read at once for a list. */
const LISTED_AT_ONCE = 8;
/** The remains of a server that died while it wrote. */
const STRAY_MS = 86_400_000;
const NAME_TRIES = 5;
const NEXT_SECOND_MS = 1_050;

export interface BackupParts {
  readonly config: BackupConfig;
  /** Returns the identity of this cluster; `null` before it has one. */
  readonly cluster: () => string | null;
  readonly replica: Pick<Replica, "snapshot">;
  readonly history: Pick<History, "flush" | "segments" | "through">;
  readonly audit: BackupInputs["audit"];
  readonly members: () => Promise<readonly { readonly id: string; readonly address: string }[]>;
  readonly serverVersion: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function createBackups(parts: BackupParts): Backups {
  const { config, clock, logger } = parts;
  const inTurn = createSerialQueue();

  const writeTo = async (store: BackupStore, signal: AbortSignal): Promise<BackupRecord> => {
    await removeStrays(store.spoolDir, clock.now());
    const members = await parts.members().catch(() => []);
    const name = await freeName(store, signal, () => clock.now());
    const inputs = { ...parts, members, nowMs: clock.now() };
    const spooled = { dir: store.spoolDir, name: `${name}.${randomBytes(4).toString("hex")}` };
    const written = await writeBackup(spooled, inputs, signal).catch((cause: unknown) => {
      throw asBackupError(cause, `writing to ${store.spoolDir}`);
    });
    try {
      const stored = await store.put(written, name, signal);
      return { ...stored, metadata: written.metadata, sha256: written.sha256 };
    } finally {
      await rm(written.path, { force: true });
    }
  };

  const isOwn = (metadata: BackupMetadata | null): boolean => metadata !== null && metadata.cluster === parts.cluster();

  const newest = async (signal: AbortSignal): Promise<Named> => {
    const store = await allowedPlace("", config);
    for (const { name } of await store.list(signal))
      if (isOwn(await store.metadata(name, signal).catch(() => null))) return { store, name };
    throw new BackupError("missing", `there is no backup of this cluster in ${store.place}`);
  };
  const find = (source: string, signal: AbortSignal): Promise<Named> =>
    source === "" ? newest(signal) : allowedBackup(source, config);

  return {
    isOwn,
    async create(destination, signal) {
      const store = await allowedPlace(destination, config);
      try {
        const record = await inTurn(() => writeTo(store, signal));
        logger.info(
          { source: record.source, bytes: record.bytes, index: record.metadata?.log_index },
          "backup written",
        );
        return record;
      } catch (cause) {
        signal.throwIfAborted();
        logger.error({ err: cause, destination: store.place }, "backup failed");
        const words = cause instanceof BackupError ? cause.message : `writing to ${store.place}: ${wordsOf(cause)}`;
        throw new BackupError("unavailable", words, { cause });
      }
    },
    async list(destination, signal) {
      const store = await allowedPlace(destination, config);
      const listed = (await store.list(signal)).slice(0, MAX_LISTED);
      const records: BackupRecord[] = [];
      for (let at = 0; at < listed.length; at += LISTED_AT_ONCE) {
        const some = listed.slice(at, at + LISTED_AT_ONCE).map((stored) => describeStored(store, stored, signal));
        records.push(...(await Promise.all(some)));
      }
      return records;
    },
    async verify(source, signal) {
      const named = await find(source, signal);
      return withCopy(named, signal, async (copy) => {
        const found = await verifyBackup(copy.path, copy.sha256);
        return { stored: await describe(named, found, signal), found };
      });
    },
    async restore(source, target, { cluster = "", ...options }) {
      const named = await find(source, options.signal);
      return withCopy(named, options.signal, async (copy) => {
        const found = await verifyBackup(copy.path, copy.sha256);
        const failed = found.checks.find((check) => !check.ok);
        if (failed !== undefined) {
          throw new BackupError("damaged", `${named.name} does not pass the check "${failed.name}": ${failed.detail}`);
        }
        await refuseOtherCluster(named, { written: found.metadata?.cluster ?? null, cluster }, options.signal);
        const restored = await restoreBackup(target, { ...options, path: copy.path, restore: found.sha256 });
        const stored = await describe(named, found, options.signal);
        logger.info({ source: stored.source, ...restored }, "backup restored into this cluster");
        return { ...stored, metadata: found.metadata, sha256: found.sha256, restored };
      });
    },
  };
}

/** A restore must not take the backup of another cluster by mistake. */
async function refuseOtherCluster(
  { store, name }: Named,
  { written, cluster }: { readonly written: string | null; readonly cluster: string },
  signal: AbortSignal,
): Promise<void> {
  if (cluster !== "" && written !== cluster)
    throw new BackupError("not_a_backup", `${name} is a backup of cluster ${written}, not of ${cluster}`);
  if (cluster !== "") return;
  for (const other of (await store.list(signal)).slice(0, MAX_LISTED)) {
    const metadata = await store.metadata(other.name, signal).catch(() => null);
    if (metadata === null || metadata.cluster === written) continue;
    const both = `${written} and ${metadata.cluster}`;
    throw new BackupError(
      "ambiguous",
      `${store.place} has backups of several clusters, ${both}: name the one to restore`,
    );
  }
}

/** Names are unique by the second: a second backup waits for the next. */
async function freeName(store: BackupStore, signal: AbortSignal, nowMs: () => number): Promise<string> {
  for (let n = 1; ; n += 1) {
    const name = backupName(nowMs());
    if (n >= NAME_TRIES || !(await store.has(name, signal))) return name;
    await sleep(NEXT_SECOND_MS, undefined, { signal });
  }
}

async function describeStored(store: BackupStore, stored: StoredBackup, signal: AbortSignal): Promise<BackupRecord> {
  const [metadata, sha256] = await Promise.all([
    store.metadata(stored.name, signal).catch(() => null),
    store.checksum(stored.name, signal).catch(() => null),
  ]);
  return { ...stored, metadata, sha256 };
}

async function withCopy<T>(
  { store, name }: Named,
  signal: AbortSignal,
  use: (copy: LocalCopy) => Promise<T>,
): Promise<T> {
  const copy = await store.fetch(name, signal);
  try {
    return await use(copy);
  } finally {
    await copy.done();
  }
}

async function describe({ store, name }: Named, found: Verification, signal: AbortSignal): Promise<StoredBackup> {
  const listed = (await store.list(signal)).find((stored) => stored.name === name);
  return listed ?? { name, source: `${store.place}/${name}`, bytes: found.bytes, createdAtMs: 0 };
}

async function removeStrays(dir: string, nowMs: number): Promise<void> {
  for (const name of await readdir(dir).catch(() => [])) {
    const path = join(dir, name);
    const changed = await stat(path).catch(() => null);
    if (changed !== null && nowMs - changed.mtimeMs > STRAY_MS) await rm(path, { force: true });
  }
}

const wordsOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
