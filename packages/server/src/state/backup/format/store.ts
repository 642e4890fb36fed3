// A store of backups: a directory or a prefix in an object store. A store knows files by name and only reads their
// first bytes, for lists. A file to be read is provided on the local disk.

import type { BackupMetadata } from "./format.ts";

/** A finished file, to be moved into a store. */
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
  /** The checksum written with it; `null` without one. */
  readonly sha256: string | null;
  /** Releases the local copy. */
  done(): Promise<void>;
}

export interface BackupStore {
  /** A folder, or s3://bucket/prefix. */
  readonly place: string;
  /** Creates and returns the directory in which a new backup is written. */
  readonly spoolDir: string;
  /** Newest first. */
  list(signal: AbortSignal): Promise<readonly StoredBackup[]>;
  /** Throws a BackupError when it cannot be read. */
  metadata(name: string, signal: AbortSignal): Promise<BackupMetadata>;
  checksum(name: string, signal: AbortSignal): Promise<string | null>;
  /** Moves the file into the store under this name, with its checksum. Visible only when complete. */
  put(written: WrittenBackup, name: string, signal: AbortSignal): Promise<StoredBackup>;
  has(name: string, signal: AbortSignal): Promise<boolean>;
  fetch(name: string, signal: AbortSignal): Promise<LocalCopy>;
  /** Deletes the file with its checksum. Succeeds when it does not exist. */
  remove(name: string, signal: AbortSignal): Promise<void>;
}

/** Newest first; the name breaks ties. */
export const newestFirst = (a: StoredBackup, b: StoredBackup): number =>
  b.createdAtMs - a.createdAtMs || (a.name < b.name ? 1 : -1);
