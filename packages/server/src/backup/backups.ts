// Backups as the API and the schedule see them.

import type { BackupMetadata } from "./format.ts";
import type { RestoreDoor, Restored, RestoreOptions } from "./restore.ts";
import type { StoredBackup } from "./store.ts";
import type { Verification } from "./verification.ts";

export interface BackupRecord extends StoredBackup {
  /** Null: it could not be read. */
  readonly metadata: BackupMetadata | null;
  /** Of the whole file; null: none was written beside it. */
  readonly sha256: string | null;
}

export interface Backups {
  /** Empty: as configured. Resolves when it is durable there. */
  create(destination: string, signal: AbortSignal): Promise<BackupRecord>;
  /** Newest first. */
  list(destination: string, signal: AbortSignal): Promise<readonly BackupRecord[]>;
  /** Empty: the newest. */
  verify(source: string, signal: AbortSignal): Promise<{ readonly stored: StoredBackup; readonly found: Verification }>;
  /** Verifies first, and restores nothing when anything is wrong. */
  restore(
    source: string,
    door: RestoreDoor,
    options: Omit<RestoreOptions, "path" | "restore">,
  ): Promise<BackupRecord & { readonly restored: Restored }>;
}
