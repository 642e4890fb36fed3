// Maps a failure of etcd to an error of the log's contract.

import { LogError } from "../contract/replicated-log.ts";
import { EtcdError } from "./client/etcd-error.ts";

export function asLogError(cause: unknown, doing: string): LogError {
  if (cause instanceof LogError) return cause;
  const text = `${doing}: ${cause instanceof Error ? cause.message : String(cause)}`;
  if (!(cause instanceof EtcdError)) return new LogError("unavailable", text, { cause });
  if (cause.kind === "no_space") return new LogError("storage_full", text, { cause });
  if (cause.kind === "too_large") return new LogError("too_large", text, { cause });
  return new LogError("unavailable", text, { cause });
}
