// Holds or releases one record. Its time of submission stays, but its waiting time counts from the release, so that
// an early submission on hold gains no priority.

import type { UserName } from "../../base/ids.ts";
import type { Outcome } from "../../base/outcome.ts";
import { refuse } from "../../base/outcome.ts";
import type { Allocation } from "../../model/allocation/allocation.ts";
import { withNote } from "../../model/allocation/record-past.ts";
import type { Hold, HoldKind } from "../../model/hold.ts";
import type { Origin } from "../../model/origin.ts";
import type { Step } from "../step.ts";
import { allocationChanged } from "./move.ts";
import { requestMutexes } from "./mutex.ts";

/** The sender of a command that holds or releases work. */
interface HoldRequest {
  readonly origin: Origin;
  /** Whether the sender administers the work, and so may release holds of others. */
  readonly admin: boolean;
}

export const mayRelease = (as: HoldKind, { admin }: Pick<HoldRequest, "admin">): boolean => admin || as === "user";

export const refuseForeignHold = (what: string): Outcome =>
  refuse("forbidden", `${what} is held by an administrator and only an administrator can release it`);

/** Returns the kind of hold that the sender of this command places on work of that owner. */
export const heldAs = (owner: UserName, { origin }: Pick<HoldRequest, "origin">): HoldKind =>
  owner === origin.user ? "user" : "admin";

/** Holds a pending allocation. Returns `false` when it already has an equal or stronger hold. */
export function holdRecord(step: Step, record: Allocation, { origin }: Pick<HoldRequest, "origin">): boolean {
  const as = heldAs(record.user, { origin });
  if (record.hold?.as === "admin" || record.hold?.as === as || record.phase.kind !== "pending") return false;
  // Nodes freed for it become available to others.
  const { preemptedNodes: _awaited, ...phase } = record.phase;
  const hold: Hold = { as, by: origin.user, since: step.at };
  const text = `Held by ${origin.user}.`;
  const held = withNote({ ...record, phase, hold }, { type: "state", kind: "held", text }, step);
  step.state.putAllocation(held);
  step.events.push({ ...allocationChanged(held, "pending"), reason: "held", message: text });
  if (held.element !== undefined) step.touchedGroups.add(held.element.group);
  return true;
}

/** Releases a held allocation. Plans with an older basis do not include it. */
export function releaseRecord(step: Step, record: Allocation, { origin }: Pick<HoldRequest, "origin">): void {
  const { hold: _over, ...rest } = record;
  const text = `Released by ${origin.user}.`;
  const free: Allocation = { ...rest, eligibleAt: step.at, pendingSinceIndex: step.index };
  const released = withNote(free, { type: "state", kind: "released", text }, step);
  step.state.putAllocation(released);
  step.events.push({ ...allocationChanged(released, "pending"), reason: "released", message: text });
  if (released.element !== undefined) step.touchedGroups.add(released.element.group);
  if (released.unmet.length > 0) requestMutexes(step, released.id);
}
