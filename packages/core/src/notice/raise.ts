// Raising a notice, by a rule of `apply` itself or by a controller that has seen something from outside,
// and clearing it. What is raised already is not raised again.

import { isText } from "../allocation/check-values.ts";
import type { ClearNoticeCommand, RaiseNoticeCommand } from "../command.ts";
import type { Outcome } from "../outcome.ts";
import { accepted, refuseFields, type Step, unchanged } from "../step.ts";
import { queueNotice } from "./deliver.ts";
import { MAX_NOTICE_LENGTH, MAX_NOTICES, NOTICE_KINDS, type Notice } from "./notice.ts";

export function raiseNotice(step: Step, { notice }: RaiseNoticeCommand): Outcome {
  const known = (NOTICE_KINDS as readonly string[]).includes(notice.kind) && notice.key.startsWith(`${notice.kind}/`);
  if (!known) return refuseFields([{ field: "notice.kind", detail: "is not a kind of notice" }]);
  if (!isText(notice.text, MAX_NOTICE_LENGTH)) {
    return refuseFields([{ field: "notice.text", detail: `must have at most ${MAX_NOTICE_LENGTH} characters` }]);
  }
  return notify(step, notice) ? accepted(notice.key) : unchanged(notice.key);
}

export function clearNotice(step: Step, { key }: ClearNoticeCommand): Outcome {
  const notice = step.state.tables.notices.get(key);
  if (notice === undefined || notice.clearedAt !== undefined) return unchanged(key);
  step.state.tables.notices.set(key, { ...notice, clearedAt: step.at });
  tell(step, notice, "cleared");
  return accepted(key);
}

/** False: it is raised already. */
export function notify(step: Step, notice: Omit<Notice, "at" | "clearedAt">): boolean {
  const { notices } = step.state.tables;
  const before = notices.get(notice.key);
  if (before !== undefined && before.clearedAt === undefined) return false;
  const raised: Notice = { ...notice, at: step.at };
  // Out and in again: the table is in order of time.
  notices.delete(notice.key);
  notices.set(notice.key, raised);
  const [oldest] = notices.keys();
  if (notices.size > MAX_NOTICES && oldest !== undefined) notices.delete(oldest);
  tell(step, raised, "raised");
  queueNotice(step, raised);
  return true;
}

function tell(step: Step, notice: Notice, to: "raised" | "cleared"): void {
  const { kind, text, tenant, user, allocation, node } = notice;
  step.events.push({
    kind: "notice_changed",
    to,
    reason: kind,
    message: text,
    ...(tenant === null ? {} : { tenant }),
    ...(user === null ? {} : { user }),
    ...(allocation === undefined ? {} : { allocation }),
    ...(node === undefined ? {} : { node }),
  });
}
