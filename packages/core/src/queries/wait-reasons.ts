// The reasons why an allocation or a task group waits, as text.

import type { Allocation } from "../model/allocation/allocation.ts";
import type { TaskGroup } from "../model/group/group.ts";
import { type HoldReason, holdReason } from "../model/hold.ts";
import type { Dependency } from "../model/spec/dependency.ts";
import type { View } from "../state/view.ts";

/** Returns the reasons as codes and texts; empty when it waits for nodes only, or not at all. */
export function waitReasons(view: View, waiter: Allocation | TaskGroup): readonly WaitReason[] {
  const unmet = describeUnmet(view, waiter).map((text): WaitReason => ({ code: "dependency", text }));
  return waiter.hold === undefined ? unmet : [holdReason(waiter.hold), ...unmet];
}

interface WaitReason {
  readonly code: "dependency" | HoldReason["code"];
  readonly text: string;
}

function describeUnmet(view: View, waiter: Allocation | TaskGroup): readonly string[] {
  if (waiter.phase.kind === "pending" && "backoffUntil" in waiter.phase && waiter.phase.backoffUntil !== undefined) {
    if (waiter.phase.backoffReason !== undefined) return [`vni_pool_exhausted: ${waiter.phase.backoffReason}`];
    const seconds = Math.max(1, Math.ceil((waiter.phase.backoffUntil - view.at) / 1000));
    return [`has failed before: it restarts in ${seconds} s at the latest`];
  }
  const edges = waiter.unmet.flatMap((n) => waiter.spec.dependsOn?.[n] ?? []);
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
