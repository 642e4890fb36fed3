// Rules for webhooks: every requested end and every notice arrives at least once, whatever crashed between the entry
// and the answer, and at the end no delivery waits.

import { type Applied, type Event, elementOf } from "@lattice/core";
import type { Replica } from "@lattice/server";
import type { HookReceiver } from "../external/receiver.ts";
import type { World } from "../world/world.ts";
import type { Watcher } from "./watcher.ts";

export function webhookChecks(world: World, receiver: HookReceiver): Watcher {
  const counts = { endsToTell: 0, noticesToTell: 0 };
  /** By key; delivered ones are removed at the next scan. */
  const owed = new Set<string>();

  function ended({ allocation, tenant, from, to = "" }: Event): void {
    if (allocation === undefined || from === to || elementOf(allocation) !== null) return;
    for (const hook of receiver.hooks) {
      const wanted = (hook.tenant === null || hook.tenant === tenant) && hook.states.includes(to as never);
      if (!wanted) continue;
      owed.add(`${hook.name}/${allocation}/${to}`);
      counts.endsToTell += 1;
    }
  }

  function raised(replica: Replica, { reason = "" }: Event, at: number): void {
    for (const { key, kind, at: since } of replica.view.notices()) {
      if (kind !== reason || since !== at || owed.has(`pager/${key}/${at}`)) continue;
      owed.add(`pager/${key}/${at}`);
      counts.noticesToTell += 1;
    }
  }

  return {
    counts,
    leastPerHour: { endsToTell: 400, noticesToTell: 10, deliveriesRepeated: 10, deliveriesFailed: 30 },
    applied(replica: Replica, applied: Applied) {
      for (const event of applied.events) {
        if (event.kind === "allocation_changed") ended(event);
        if (event.kind === "notice_changed" && event.to === "raised") raised(replica, event, applied.at);
        if (event.kind === "delivery_dropped") world.violated("webhooks", `${event.message} is dropped`);
      }
    },
    left(view) {
      for (const key of owed) if (receiver.hasTaken(key)) owed.delete(key);
      const left = Array.from(owed, (key) => `${key} was not delivered`);
      for (const { key } of view.deliveries()) left.push(`delivery ${key} waits`);
      return left;
    },
  };
}
