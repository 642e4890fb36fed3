// What a server keeps of the audit log besides its state: the archive, and the key that signs what is read.

import type { Logger } from "pino";
import type { AuditConfig } from "../config/audit.ts";
import { type AuditArchive, openAuditArchive } from "./archive.ts";
import { type AuditSigner, openAuditSigner } from "./signer.ts";

/** Rejects with the reason when the folder or the key cannot be used. */
export async function openAudit(
  { dir, retention, signingKeyPath, keyConfigured }: AuditConfig,
  around: { readonly nowMs: number; readonly logger: Logger },
): Promise<{ readonly archive: AuditArchive; readonly signer: AuditSigner }> {
  const archive = await openAuditArchive(dir, { ...around, retentionMs: retention });
  return { archive, signer: openAuditSigner(signingKeyPath, keyConfigured) };
}
