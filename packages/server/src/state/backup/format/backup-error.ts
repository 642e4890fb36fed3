// Errors of backups, as a closed set, so that callers can tell a missing file from damage.

export type BackupErrorCode =
  | "missing" // there is no such file or object
  | "not_a_backup" // it is something else
  | "too_new" // a newer program wrote it
  | "torn" // its bytes differ from the written ones
  | "damaged" // its bytes are intact, but inconsistent
  | "ambiguous" // it may be of another cluster than the caller means
  | "unavailable"; // the destination cannot be read or written

export class BackupError extends Error {
  readonly code: BackupErrorCode;
  constructor(code: BackupErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "BackupError";
    this.code = code;
  }
}

/** Maps a failed file operation to a BackupError. */
export function asBackupError(cause: unknown, doing: string): BackupError {
  if (cause instanceof BackupError) return cause;
  const words = cause instanceof Error ? cause.message : String(cause);
  const code = cause instanceof Error && "code" in cause && cause.code === "ENOENT" ? "missing" : "unavailable";
  return new BackupError(code, `${doing}: ${words}`, { cause });
}
