// One record is held or released. Its time of submission stays, but its waiting counts from the release on, so
// that nobody gains by handing in early what is not to run yet.

import type { HoldCommand } from "../command.ts";
import type { UserName } from "../ids.ts";
import type { Outcome } from "../outcome.ts";
import { refuse, type Step } from "../step.ts";
import type { Allocation } from "./allocation.ts";
import type { HeldAs, Hold } from "./hold.ts";
import { withNote } from "./keep-past.ts";
import { changed } from "./move.ts";
import { askForNames } from "./mutex.ts";

export const mayRelease = (as: HeldAs, { admin }: Pick<HoldCommand, "admin">): boolean => admin || as === "user";

export const notTheirs = (what: string): Outcome =>
  refuse("forbidden", `${what} is held by an administrator, who alone can release it`);

/** As whom the sender of this command holds work of that owner. */
export const heldAs = (owner: UserName, { origin }: Pick<HoldCommand, "origin">): HeldAs =>
  owner === origin.user ? "user" : "admin";

/** Of one that is pending. False: it is held as much already. */
export function holdRecord(step: Step, record: Allocation, { origin }: Pick<HoldCommand, "origin">): boolean {
  const as = heldAs(record.user, { origin });
  if (record.hold?.as === "admin" || record.hold?.as === as || record.phase.kind !== "pending") return false;
  // Nodes that were freed for it are for others now.
  const { awaits: _awaited, ...phase } = record.phase;
  const hold: Hold = { as, by: origin.user, since: step.at };
  const text = `Held by ${origin.user}.`;
  const held = withNote({ ...record, phase, hold }, { type: "state", kind: "held", text }, step);
  step.state.putAllocation(held);
  step.events.push({ ...changed(held, "pending"), reason: "held", message: text });
  if (held.element !== undefined) step.stirred.add(held.element.group);
  return true;
}

/** Of one that is held. A plan that was made before does not know it. */
export function releaseRecord(step: Step, record: Allocation, { origin }: Pick<HoldCommand, "origin">): void {
  const { hold: _over, ...rest } = record;
  const text = `Released by ${origin.user}.`;
  const free: Allocation = { ...rest, eligibleAt: step.at, pendingSinceIndex: step.index };
  const released = withNote(free, { type: "state", kind: "released", text }, step);
  step.state.putAllocation(released);
  step.events.push({ ...changed(released, "pending"), reason: "released", message: text });
  if (released.element !== undefined) step.stirred.add(released.element.group);
  if (released.unmet !== undefined) askForNames(step, released.id);
}
