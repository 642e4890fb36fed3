// Backups as the API and the schedule see them.

import type { BackupMetadata } from "./format/format.ts";
import type { StoredBackup } from "./format/store.ts";
import type { Restored, RestoreOptions, RestoreTarget } from "./restore.ts";
import type { Verification } from "./verification.ts";

export interface BackupRecord extends StoredBackup {
  /** `null` when the metadata could not be read. */
  readonly metadata: BackupMetadata | null;
  /** Checksum of the whole file; `null` when none was written with it. */
  readonly sha256: string | null;
}

export interface Backups {
  /** Whether a backup is of this cluster. One whose metadata cannot be read is not. */
  isOwn(metadata: BackupMetadata | null): boolean;
  /** An empty destination means the configured one. Resolves when the backup is durable there. */
  create(destination: string, signal: AbortSignal): Promise<BackupRecord>;
  /** Newest first. */
  list(destination: string, signal: AbortSignal): Promise<readonly BackupRecord[]>;
  /** An empty name means the newest backup of this cluster. */
  verify(source: string, signal: AbortSignal): Promise<{ readonly stored: StoredBackup; readonly found: Verification }>;
  /**
   * Verifies the backup first, and restores nothing when a check fails, or when it is of another cluster than the named
   * one. Where backups of several clusters are in one place, the cluster must be named.
   */
  restore(
    source: string,
    target: RestoreTarget,
    options: Omit<RestoreOptions, "path" | "restore"> & {
      /** The cluster of the backup. Default: not named. */
      readonly cluster?: string;
    },
  ): Promise<BackupRecord & { readonly restored: Restored }>;
}
