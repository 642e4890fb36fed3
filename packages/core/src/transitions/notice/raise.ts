// Raising a notice, by a rule of `apply` itself or by a controller that has seen something from outside,
// and clearing it. What is raised already is not raised again.

import { MAX_NOTICES, type Notice } from "../../model/notice/notice.ts";
import type { Step } from "../step.ts";
import { queueNoticeDelivery } from "./deliver.ts";

/** Clears a raised notice. Returns false when it is not raised. */
export function clearNotice(step: Step, key: string): boolean {
  const notice = step.state.tables.notices.get(key);
  if (notice === undefined || notice.clearedAt !== undefined) return false;
  step.state.tables.notices.set(key, { ...notice, clearedAt: step.at });
  tell(step, notice, "cleared");
  return true;
}

/** False: it is raised already. */
export function raiseNotice(step: Step, notice: Omit<Notice, "at" | "clearedAt">): boolean {
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
  queueNoticeDelivery(step, raised);
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
