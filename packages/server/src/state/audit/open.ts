// Opens the parts of the audit log outside the state: the archive, and the key that signs records.

import type { Logger } from "pino";
import type { AuditConfig } from "../../base/config/index.ts";
import { AuditArchive } from "./archive.ts";
import { type AuditSigner, openAuditSigner } from "./signer.ts";

/** Rejects with the reason when the directory or the key cannot be used. */
export async function openAudit(
  { dir, retention, signingKeyPath, keyConfigured }: AuditConfig,
  around: { readonly nowMs: number; readonly logger: Logger },
): Promise<{ readonly archive: AuditArchive; readonly signer: AuditSigner }> {
  const archive = await AuditArchive.open(dir, { ...around, retentionMs: retention });
  return { archive, signer: openAuditSigner(signingKeyPath, keyConfigured) };
}
