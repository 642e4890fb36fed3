// Opens the parts of the audit log outside the state: the archive, and the private keys that sign records.

import { join } from "node:path";
import type { Logger } from "pino";
import type { AuditConfig } from "../../base/config/index.ts";
import { AuditArchive } from "./archive.ts";
import { AuditKeyStore } from "./key-store.ts";

/** Rejects with the reason when the directory or a key cannot be used. */
export async function openAudit(
  { dir, retention }: AuditConfig,
  around: { readonly nowMs: number; readonly logger: Logger },
): Promise<{ readonly archive: AuditArchive; readonly keys: AuditKeyStore }> {
  const archive = await AuditArchive.open(dir, { ...around, retentionMs: retention });
  return { archive, keys: AuditKeyStore.open(join(dir, "keys")) };
}
