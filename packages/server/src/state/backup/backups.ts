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
  /** An empty destination means the configured one. Resolves when the backup is durable there. */
  create(destination: string, signal: AbortSignal): Promise<BackupRecord>;
  /** Newest first. */
  list(destination: string, signal: AbortSignal): Promise<readonly BackupRecord[]>;
  /** An empty name means the newest backup. */
  verify(source: string, signal: AbortSignal): Promise<{ readonly stored: StoredBackup; readonly found: Verification }>;
  /** Verifies the backup first, and restores nothing when a check fails. */
  restore(
    source: string,
    target: RestoreTarget,
    options: Omit<RestoreOptions, "path" | "restore">,
  ): Promise<BackupRecord & { readonly restored: Restored }>;
}
