// Lets records of a backup's audit log, which had left its state, into the archive of every server. They are taken only
// with their own hashes and from below what the state has; that they form one chain was verified before the restore.

import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuse } from "../../base/outcome.ts";

import type { AuditRecord } from "../../model/audit/record.ts";
import { auditHash } from "../../model/audit/record.ts";
import { noSuchRestore, stagedRestore } from "../../transitions/cluster/staging.ts";
import type { Step } from "../../transitions/step.ts";

/** Records of the backup's audit log that had left its state, for the archive of every server. */
export interface RestoreAuditCommand {
  readonly kind: "cluster.restore_audit";
  readonly restore: string;
  /** The oldest number that was still kept. */
  readonly floor: number;
  readonly records: readonly AuditRecord[];
}

export function restoreAudit(step: Step, { restore, floor, records }: RestoreAuditCommand): Outcome {
  const { state } = step;
  const staged = stagedRestore(state);
  if (staged?.restore !== restore || !staged.committed) return noSuchRestore(restore);
  const oldest = (state.lastAudit()?.n ?? 0) - state.tables.audit.size + 1;
  const odd = records.find(({ hash, ...body }) => body.n < floor || body.n >= oldest || auditHash(body) !== hash);
  if (odd !== undefined) return refuse("invalid_argument", `record ${odd.n} is not one of the audit log's archive`);
  step.effects.push({ kind: "restore_audit", floor, records });
  return accepted(restore);
}
