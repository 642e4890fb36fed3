// What an allocation or a task group still waits for, in words.

import type { TaskGroup } from "../group/group.ts";
import type { View } from "../state/view.ts";
import type { Allocation } from "./allocation.ts";
import type { Dependency } from "./dependency.ts";
import { type HeldReason, heldReason } from "./hold.ts";

/** For programs and in words; nothing: it waits for nodes, or not at all. */
export function waitReasons(view: View, waiter: Allocation | TaskGroup): readonly WaitReason[] {
  const unmet = describeUnmet(view, waiter).map((text): WaitReason => ({ code: "dependency", text }));
  return waiter.hold === undefined ? unmet : [heldReason(waiter.hold), ...unmet];
}

export interface WaitReason {
  readonly code: "dependency" | HeldReason["code"];
  readonly text: string;
}

export function describeUnmet(view: View, waiter: Allocation | TaskGroup): readonly string[] {
  if (waiter.phase.kind === "pending" && "heldUntil" in waiter.phase && waiter.phase.heldUntil !== undefined) {
    if (waiter.phase.heldBecause !== undefined) return [`vni_pool_exhausted: ${waiter.phase.heldBecause}`];
    const seconds = Math.max(1, Math.ceil((waiter.phase.heldUntil - view.at) / 1000));
    return [`has failed before: it is begun again in ${seconds} s at the latest`];
  }
  const edges = (waiter.unmet ?? []).flatMap((n) => waiter.spec.dependsOn?.[n] ?? []);
  const failures = edges.filter(({ condition }) => condition === "failure");
  const others = edges.filter(({ condition }) => condition !== "failure");
  const texts = others.map((edge) => describe(view, waiter, edge));
  if (failures.length > 0) texts.push(`waits until ${failures.map(({ ref }) => ref).join(" or ")} has failed`);
  return texts;
}

function describe(view: View, { spec }: Allocation | TaskGroup, { ref, condition }: Dependency): string {
  switch (condition) {
    case "any":
      return `waits until ${ref} has ended`;
    case "mutex": {
      const holder = view.mutexHolder(spec.tenant, ref);
      return holder === null ? `waits for the mutex ${ref}` : `waits for the mutex ${ref}, which ${holder} holds`;
    }
    default:
      return `waits until ${ref} has completed`;
  }
}
