// Where backups lie: a folder or a place in an object store. A store knows files by name and nothing of
// what is in them, but for the first bytes, which a list shows. What is to be read is handed out as a
// file on this disk.

import type { BackupMetadata } from "./format.ts";

/** A file that is ready to be put into a store. */
export interface WrittenBackup {
  readonly path: string;
  readonly metadata: BackupMetadata;
  readonly bytes: number;
  readonly sha256: string;
}

export interface StoredBackup {
  readonly name: string;
  /** A path, or s3://bucket/key. */
  readonly source: string;
  readonly bytes: number;
  readonly createdAtMs: number;
}

export interface LocalCopy {
  readonly path: string;
  /** As written beside it; null: there is none. */
  readonly sha256: string | null;
  /** The copy is no longer needed. */
  done(): Promise<void>;
}

export interface BackupStore {
  /** A folder, or s3://bucket/prefix. */
  readonly place: string;
  /** Where a new backup is to be written; made if it is not there. */
  readonly spoolDir: string;
  /** Newest first. */
  list(signal: AbortSignal): Promise<readonly StoredBackup[]>;
  /** Throws a BackupError when it cannot be read. */
  metadata(name: string, signal: AbortSignal): Promise<BackupMetadata>;
  checksum(name: string, signal: AbortSignal): Promise<string | null>;
  /** Takes the file over under this name, with its checksum beside it. Visible only when whole. */
  put(written: WrittenBackup, name: string, signal: AbortSignal): Promise<StoredBackup>;
  has(name: string, signal: AbortSignal): Promise<boolean>;
  fetch(name: string, signal: AbortSignal): Promise<LocalCopy>;
  /** With its checksum. No error when it is not there. */
  remove(name: string, signal: AbortSignal): Promise<void>;
}

/** Newest first; the last key is the name. */
export const newestFirst = (a: StoredBackup, b: StoredBackup): number =>
  b.createdAtMs - a.createdAtMs || (a.name < b.name ? 1 : -1);
