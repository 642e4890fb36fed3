// Raises and clears notices, for rules of `apply` and for controllers. A raised notice is not raised again.

import { MAX_NOTICES, type Notice } from "../../model/notice/notice.ts";
import type { Step } from "../step.ts";
import { queueNoticeDelivery } from "./deliver.ts";

/** Clears a raised notice. Returns false when it is not raised. */
export function clearNotice(step: Step, key: string): boolean {
  const notice = step.state.tables.notices.get(key);
  if (notice === undefined || notice.clearedAt !== undefined) return false;
  step.state.tables.notices.set(key, { ...notice, clearedAt: step.at });
  emitNotice(step, notice, "cleared");
  return true;
}

/** Records that the cause of a raised notice was observed again. Returns false when the notice is not raised. */
export function observeNotice(step: Step, key: string): boolean {
  const notice = step.state.tables.notices.get(key);
  if (notice === undefined || notice.clearedAt !== undefined) return false;
  step.state.tables.notices.set(key, { ...notice, seenAt: step.at });
  return true;
}

/** Returns false when it is already raised. */
export function raiseNotice(step: Step, notice: Omit<Notice, "at" | "seenAt" | "clearedAt">): boolean {
  const { notices } = step.state.tables;
  const before = notices.get(notice.key);
  if (before !== undefined && before.clearedAt === undefined) return false;
  const raised: Notice = { ...notice, at: step.at };
  // Reinserted, because the table is in order of time.
  notices.delete(notice.key);
  notices.set(notice.key, raised);
  const [oldest] = notices.keys();
  if (notices.size > MAX_NOTICES && oldest !== undefined) notices.delete(oldest);
  emitNotice(step, raised, "raised");
  queueNoticeDelivery(step, raised);
  return true;
}

function emitNotice(step: Step, notice: Notice, to: "raised" | "cleared"): void {
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
