// Work that somebody wants to wait: it is in no queue until it is released. What its owner holds, the owner
// releases; what somebody else holds, an administrator of it.

import type { Instant, UserName } from "../ids.ts";

export type HeldAs = "user" | "admin";

export interface Hold {
  /** By its owner, or by somebody who administers it. */
  readonly as: HeldAs;
  readonly by: UserName;
  readonly since: Instant;
}

/** Why something waits, for programs and in words. */
export interface HeldReason {
  readonly code: "held_by_user" | "held_by_admin";
  readonly text: string;
}

/** Of an element that has not been made it is not known who holds it. */
export const heldReason = ({ as, by }: Pick<Hold, "as" | "by">): HeldReason =>
  as === "user"
    ? { code: "held_by_user", text: `held by user ${by}`.trimEnd() }
    : { code: "held_by_admin", text: `held by administrator ${by}`.trimEnd() };
