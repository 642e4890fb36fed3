// Notices whose cause shows only when it occurs, such as an agent of another cluster that tries to connect: they are
// cleared after a time without an occurrence. Pure.

import {
  type ClearNoticeCommand,
  type Duration,
  duration,
  type Instant,
  OBSERVED_NOTICES,
  type View,
} from "@lattice/core";

/** A refused agent tries again after a minute at most, and servers record what they see once a minute. */
export const CLEAR_AFTER: Duration = duration(5 * 60_000);

export function decideGone(view: Pick<View, "notices">, now: Instant): readonly ClearNoticeCommand[] {
  const gone: ClearNoticeCommand[] = [];
  for (const { key, kind, at, seenAt = at, clearedAt } of view.notices())
    if (clearedAt === undefined && OBSERVED_NOTICES.has(kind) && now - seenAt >= CLEAR_AFTER)
      gone.push({ kind: "notice.clear", key });
  return gone;
}
