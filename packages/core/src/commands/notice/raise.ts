// notice.raise: a server or a controller raises a notice. A notice that is already raised is not raised again; for a
// cause that is observed again and again, the time of the last observation is kept.

import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuseFields, unchanged } from "../../base/outcome.ts";

import { isText } from "../../model/checks.ts";
import type { Notice } from "../../model/notice/notice.ts";
import { MAX_NOTICE_LENGTH, NOTICE_KINDS, OBSERVED_NOTICES } from "../../model/notice/notice.ts";
import { observeNotice, raiseNotice } from "../../transitions/notice/raise.ts";
import type { Step } from "../../transitions/step.ts";

export interface RaiseNoticeCommand {
  readonly kind: "notice.raise";
  readonly notice: Omit<Notice, "at" | "seenAt" | "clearedAt">;
}

export function raiseNoticeByController(step: Step, { notice }: RaiseNoticeCommand): Outcome {
  const known = (NOTICE_KINDS as readonly string[]).includes(notice.kind) && notice.key.startsWith(`${notice.kind}/`);
  if (!known) return refuseFields([{ field: "notice.kind", detail: "is not a kind of notice" }]);
  if (!isText(notice.text, MAX_NOTICE_LENGTH)) {
    return refuseFields([{ field: "notice.text", detail: `must have at most ${MAX_NOTICE_LENGTH} characters` }]);
  }
  if (OBSERVED_NOTICES.has(notice.kind) && observeNotice(step, notice.key)) return accepted(notice.key);
  return raiseNotice(step, notice) ? accepted(notice.key) : unchanged(notice.key);
}
