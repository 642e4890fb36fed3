// Errors of the history, as a closed set, so that callers can tell a full disk from damage.

export type HistoryErrorCode =
  | "storage_full" // nothing of the append was kept; trying again may work
  | "unavailable" // as storage_full, for another reason
  | "corrupt" // the requested record does not match its checksum
  | "closed";

export class HistoryError extends Error {
  readonly code: HistoryErrorCode;
  constructor(code: HistoryErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "HistoryError";
    this.code = code;
  }
}

const FULL: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EFBIG", "ERR_SQLITE_FULL"]);

export function asHistoryError(cause: unknown): HistoryError {
  if (cause instanceof HistoryError) return cause;
  const words = cause instanceof Error ? cause.message : String(cause);
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const full = FULL.has(code) || /database or disk is full/.test(words);
  return new HistoryError(full ? "storage_full" : "unavailable", words, { cause });
}
