// When an attempt ended: when its last process ended, as the nodes report it. After an outage a report comes late, so the
// time of its entry says little. A node's clock may differ, so its time lies between the start of the attempt and the
// entry.

import { type Instant, instant } from "../../base/ids.ts";
import type { NodeProgress, PlacedPhase } from "./phase.ts";

export const hasEnded = (progress: NodeProgress | undefined): boolean =>
  progress?.state === "completed" || progress?.state === "failed";

/** Returns the latest end after one more report; `reported` is the node's time of an end. */
export const lastEndAfter = (
  { lastEndAt = instant(0) }: Pick<PlacedPhase, "lastEndAt">,
  reported: Instant | undefined,
  at: Instant,
): Instant => instant(Math.max(lastEndAt, Math.min(reported ?? at, at)));

/** Returns the end of an attempt that is over at `at`. Processes that have not ended run until then. */
export function endOfAttempt(phase: PlacedPhase, at: Instant): Instant {
  if (phase.lastEndAt === undefined || !phase.progress.every(hasEnded)) return at;
  const startedAt = phase.kind === "staging" ? phase.placedAt : phase.startedAt;
  return instant(Math.max(startedAt, phase.lastEndAt));
}
