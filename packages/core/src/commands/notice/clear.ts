// notice.clear: a controller reports that the cause of a notice is gone.

import { accepted, type Outcome, unchanged } from "../../base/outcome.ts";
import { clearNotice } from "../../transitions/notice/raise.ts";
import type { Step } from "../../transitions/step.ts";

export interface ClearNoticeCommand {
  readonly kind: "notice.clear";
  readonly key: string;
}

export const clearNoticeByKey = (step: Step, { key }: ClearNoticeCommand): Outcome =>
  clearNotice(step, key) ? accepted(key) : unchanged(key);
