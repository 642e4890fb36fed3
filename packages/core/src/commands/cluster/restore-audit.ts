// cluster.restore_audit: passes archived audit records of a backup to the archive of every server. Their hashes must be
// valid and their numbers below those in the state; the chain was verified before the restore.

import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuse } from "../../base/outcome.ts";

import type { AuditRecord } from "../../model/audit/record.ts";
import { isIntact } from "../../model/audit/record.ts";
import { noSuchRestore, stagedRestore } from "../../transitions/cluster/staging.ts";
import type { Step } from "../../transitions/step.ts";

/** Archived audit records of the backup, for the archive of every server. */
export interface RestoreAuditCommand {
  readonly kind: "cluster.restore_audit";
  readonly restore: string;
  /** The oldest number in the state. */
  readonly floor: number;
  readonly records: readonly AuditRecord[];
}

export function restoreAudit(step: Step, { restore, floor, records }: RestoreAuditCommand): Outcome {
  const { state } = step;
  const staged = stagedRestore(state);
  if (staged?.restore !== restore || !staged.committed) return noSuchRestore(restore);
  const oldest = (state.lastAudit()?.n ?? 0) - state.tables.audit.size + 1;
  const odd = records.find((record) => record.n < floor || record.n >= oldest || !isIntact(record));
  if (odd !== undefined) return refuse("invalid_argument", `record ${odd.n} is not one of the audit log's archive`);
  step.effects.push({ kind: "restore_audit", floor, records });
  return accepted(restore);
}
