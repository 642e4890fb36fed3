// Work on hold is in no queue until it is released. The owner releases a hold that the owner placed; an administrator
// releases any other.

import type { Instant, UserName } from "../base/ids.ts";

export type HoldKind = "user" | "admin";

export interface Hold {
  /** Placed by the owner, or by an administrator. */
  readonly as: HoldKind;
  readonly by: UserName;
  readonly since: Instant;
}

/** Why something waits, for programs and in words. */
export interface HoldReason {
  readonly code: "held_by_user" | "held_by_admin";
  readonly text: string;
}

/** Of an element that has not been made it is not known who holds it. */
export const holdReason = ({ as, by }: Pick<Hold, "as" | "by">): HoldReason =>
  as === "user"
    ? { code: "held_by_user", text: `held by user ${by}`.trimEnd() }
    : { code: "held_by_admin", text: `held by administrator ${by}`.trimEnd() };
