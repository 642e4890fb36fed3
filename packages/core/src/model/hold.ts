// Holds. Held work is not queued until it is released. The owner releases the owner's hold; an administrator releases
// any hold.

import type { Instant, UserName } from "../base/ids.ts";

export type HoldKind = "user" | "admin";

export interface Hold {
  /** Placed by the owner, or by an administrator. */
  readonly as: HoldKind;
  readonly by: UserName;
  readonly since: Instant;
}

/** The reason of a hold, as a code and as text. */
export interface HoldReason {
  readonly code: "held_by_user" | "held_by_admin";
  readonly text: string;
}

/** Unknown for an element without a record. */
export const holdReason = ({ as, by }: Pick<Hold, "as" | "by">): HoldReason =>
  as === "user"
    ? { code: "held_by_user", text: `held by user ${by}`.trimEnd() }
    : { code: "held_by_admin", text: `held by administrator ${by}`.trimEnd() };
