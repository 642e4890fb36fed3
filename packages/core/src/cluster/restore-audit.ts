// Lets records of a backup's audit log, which had left its state, into the archive of every server. They are taken only
// with their own hashes and from below what the state has; that they form one chain was verified before the restore.

import { auditHash } from "../audit/record.ts";
import type { RestoreAuditCommand } from "../command.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, refuse, type Step } from "../step.ts";
import { noSuchRestore } from "./begin-restore.ts";
import { stagedRestore } from "./staging.ts";

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
