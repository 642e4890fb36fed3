// notice.raise: a controller raises a notice. A notice that is already raised is not raised again.

import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuseFields, unchanged } from "../../base/outcome.ts";

import { isText } from "../../model/checks.ts";
import type { Notice } from "../../model/notice/notice.ts";
import { MAX_NOTICE_LENGTH, NOTICE_KINDS } from "../../model/notice/notice.ts";
import { raiseNotice } from "../../transitions/notice/raise.ts";
import type { Step } from "../../transitions/step.ts";

export interface RaiseNoticeCommand {
  readonly kind: "notice.raise";
  readonly notice: Omit<Notice, "at" | "clearedAt">;
}

export function raiseNoticeByController(step: Step, { notice }: RaiseNoticeCommand): Outcome {
  const known = (NOTICE_KINDS as readonly string[]).includes(notice.kind) && notice.key.startsWith(`${notice.kind}/`);
  if (!known) return refuseFields([{ field: "notice.kind", detail: "is not a kind of notice" }]);
  if (!isText(notice.text, MAX_NOTICE_LENGTH)) {
    return refuseFields([{ field: "notice.text", detail: `must have at most ${MAX_NOTICE_LENGTH} characters` }]);
  }
  return raiseNotice(step, notice) ? accepted(notice.key) : unchanged(notice.key);
}
