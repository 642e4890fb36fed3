// Backups: the calls take as long as the state is large, so they wait longer than others do.

import type { Backup, BackupList, BackupRestored, BackupVerification } from "../backup-types.ts";
import type { Caller, CallOptions } from "../call.ts";
import { queryString } from "../query.ts";
import { withRequestId } from "../request-id.ts";
import type { ChangeOptions } from "./allocations.ts";

const PATIENCE_MS = 3_600_000;

export interface BackupCalls {
  /** `destination`: a folder of the server or s3://bucket/prefix; absent: as configured. */
  create(destination?: string, options?: ChangeOptions): Promise<Backup>;
  list(destination?: string, options?: CallOptions): Promise<BackupList>;
  /** Absent: the newest. A backup that fails is an answer, not an error. */
  verify(source?: string, options?: CallOptions): Promise<BackupVerification>;
  /** Into a cluster that is empty. Asked for again, it goes on where it stopped. */
  restore(source: string, options?: CallOptions): Promise<BackupRestored>;
}

export function backupCalls(caller: Caller): BackupCalls {
  const post = <T>(path: string, body: object, repeatable: boolean, options: CallOptions = {}): Promise<T> =>
    caller.json(
      { method: "POST", path: `/api/v1/admin/${path}`, body, repeatable },
      { timeoutMs: PATIENCE_MS, ...options },
    );
  return {
    create: (destination, options = {}) =>
      post("backup", withRequestId(stated({ destination }), options.requestId), true, options),
    list: (destination, options = {}) =>
      caller.json(
        { method: "GET", path: `/api/v1/admin/backups${queryString(stated({ destination }))}` },
        { timeoutMs: PATIENCE_MS, ...options },
      ),
    verify: (source, options) => post("backup/verify", stated({ source }), true, options),
    restore: (source, options) => post("restore", { source }, false, options),
  };
}

const stated = (fields: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined));
