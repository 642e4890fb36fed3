// Adds a line to the audit log for what a command has done, in the entry that carries it out. The newest lines
// stay in the state; older ones leave it for the archive of every server, in order. Servers of version 1 know
// nothing of it, so nothing is written before something newer is in use.

import type { Command, RecordAuditCommand } from "../command.ts";
import type { UserName } from "../ids.ts";
import type { Outcome } from "../outcome.ts";
import type { State } from "../state/state.ts";
import { accepted, refuseFields, type Step } from "../step.ts";
import { type Circumstances, DEEDS } from "./actions.ts";
import type { Deed } from "./deed.ts";
import { type AuditBody, auditHash } from "./record.ts";

/** In the state; about 15 MB. A large site has a few thousand such actions a year. */
export const MAX_AUDIT_RECORDS = 50_000;
/** Of one detail; those of `audit.record` come from outside. */
export const MAX_AUDIT_DETAIL = 1_024;
/** Of what a caller was told, kept for a day: a description of a backup with a long path. */
const MAX_KEPT_ANSWER = 16_384;

const FIRST_VERSION = 2;

/** Hands the outcome on. */
export function audited(
  step: Step,
  command: Command & { readonly origin: { readonly user: UserName } },
  outcome: Outcome,
): Outcome {
  if (step.version < FIRST_VERSION || outcome.kind !== "accepted" || outcome.repeated === true) return outcome;
  const describe = DEEDS[command.kind] as ((command: Command, about: Circumstances) => Deed | null) | undefined;
  const deed = describe?.(command, circumstances(step.state)) ?? null;
  if (deed !== null) appendAudit(step, command.origin.user, deed.action ?? command.kind, deed);
  return outcome;
}

export function appendAudit(step: Step, user: UserName, action: string, deed: Omit<Deed, "action">): void {
  const { state } = step;
  const last = state.lastAudit();
  const { scope, tenant, allocation, node, dataPath } = deed;
  const body: AuditBody = {
    n: (last?.n ?? 0) + 1,
    index: step.index,
    at: step.at,
    user,
    action,
    scope,
    detail: deed.detail.slice(0, MAX_AUDIT_DETAIL),
    ...(tenant === undefined ? {} : { tenant }),
    ...(allocation === undefined ? {} : { allocation }),
    ...(node === undefined ? {} : { node }),
    ...(dataPath === undefined ? {} : { dataPath }),
    prev: last?.hash ?? "",
  };
  state.putAudit({ ...body, hash: auditHash(body) });
  leaveOldest(step);
}

/** Carried out by the record itself. */
export function recordDeed({ answer }: RecordAuditCommand): Outcome {
  if (answer === undefined || answer.length <= MAX_KEPT_ANSWER) return accepted(answer ?? null);
  return refuseFields([{ field: "answer", detail: `must have at most ${MAX_KEPT_ANSWER} characters` }]);
}

function leaveOldest({ state, effects }: Step): void {
  const { audit } = state.tables;
  while (audit.size > MAX_AUDIT_RECORDS) {
    const n = (state.lastAudit()?.n ?? 0) - audit.size + 1;
    const record = audit.get(String(n));
    if (record === undefined) return;
    audit.delete(String(n));
    effects.push({ kind: "archive_audit", record });
  }
}

const circumstances = (state: State): Circumstances => ({
  ownerOf(id) {
    const found = state.allocation(id) ?? state.group(id);
    return found === undefined ? null : { user: found.user, tenant: found.spec.tenant };
  },
});
