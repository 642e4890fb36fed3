// Appends a record to the audit log, in the entry of the audited command. The newest records stay in the state; older
// ones move to the archive of every server, in order.

import type { UserName } from "../../base/ids.ts";
import type { AuditAction } from "../../model/audit/action.ts";
import { type AuditBody, auditHash } from "../../model/audit/record.ts";
import type { Step } from "../step.ts";

/** Records in the state; about 15 MB. A large site has a few thousand such actions a year. */
export const MAX_AUDIT_RECORDS = 50_000;
/** Longest detail; those of `audit.record` come from outside. */
const MAX_AUDIT_DETAIL = 1_024;

export function appendAudit(step: Step, user: UserName, action: string, details: Omit<AuditAction, "action">): void {
  const { state } = step;
  const last = state.lastAudit();
  const { scope, tenant, allocation, node, dataPath } = details;
  const body: AuditBody = {
    n: (last?.n ?? 0) + 1,
    index: step.index,
    at: step.at,
    user,
    action,
    scope,
    detail: details.detail.slice(0, MAX_AUDIT_DETAIL),
    ...(tenant === undefined ? {} : { tenant }),
    ...(allocation === undefined ? {} : { allocation }),
    ...(node === undefined ? {} : { node }),
    ...(dataPath === undefined ? {} : { dataPath }),
    prev: last?.hash ?? "",
  };
  state.putAudit({ ...body, hash: auditHash(body) });
  leaveOldest(step);
}

function leaveOldest({ state, effects }: Step): void {
  const { audit } = state.tables;
  while (audit.size > MAX_AUDIT_RECORDS) {
    const n = (state.lastAudit()?.n ?? 0) - audit.size + 1;
    const record = audit.get(String(n));
    if (record === undefined) return;
    state.leaveAudit(record);
    effects.push({ kind: "archive_audit", record });
  }
}
