// Gauges that mirror the state, computed when somebody scrapes.

import type { AgentHub } from "../agents/hub.ts";
import type { History } from "../history/index.ts";
import type { Replica } from "../replica/replica.ts";
import type { Metrics } from "./metrics.ts";

export interface Mirrored {
  readonly replica: Replica;
  readonly hub: AgentHub;
  readonly history: History;
}

export function mirrorState(metrics: Metrics, { replica, hub, history }: Mirrored): void {
  replica.feed.onEvents((events) => {
    for (const { event } of events) metrics.event(event.kind);
  });
  metrics.onScrape(() => {
    metrics.allocations(tally(replica.view.allocations(), (allocation) => allocation.phase.kind));
    metrics.nodes(tally(replica.view.nodes(), (node) => node.state.kind));
    metrics.agentsConnected(hub.count);
    metrics.historyWaiting(history.waiting());
  });
}

function tally<T>(records: Iterable<T>, stateOf: (record: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const record of records) {
    const state = stateOf(record);
    counts[state] = (counts[state] ?? 0) + 1;
  }
  return counts;
}
