// Gauges of the state, computed at each scrape.

import {
  allocationMoves,
  dagState,
  type NodeId,
  type PhaseKind,
  poolSize,
  type View,
  waitingCount,
} from "@lattice/core";
import { jobKeysOf } from "../base/auth/job-tokens.ts";
import type { Metrics } from "../base/observe/metrics.ts";
import { awayOf } from "../lead/controllers/checkpoint/storage.ts";
import { exportMeasures } from "../lead/telemetry/exported.ts";
import type { Measured } from "../lead/telemetry/measures.ts";
import type { AgentHub } from "../nodes/agents/hub.ts";
import type { History } from "../state/history/index.ts";
import type { Replica } from "../state/replica/replica.ts";

interface StateSources {
  readonly replica: Replica;
  readonly hub: AgentHub;
  readonly terminals: { readonly count: number };
  readonly history: History;
  readonly leads: () => boolean;
  readonly checkpoints: { storageErrors(): ReadonlyMap<NodeId, string> };
  /** `null` without a time-series store. */
  readonly measured: Measured | null;
}

export function mirrorState(
  metrics: Metrics,
  { replica, hub, terminals, history, leads, checkpoints, measured }: StateSources,
): void {
  replica.feed.onEvents((events) => {
    for (const { event } of events) metrics.event(event.kind);
    if (!leads()) return;
    for (const { event } of events) {
      metrics.checkpointEvent(event, replica.view);
      metrics.failureEvent(event);
    }
  });
  if (measured !== null) metrics.alsoRender(() => (leads() ? exportMeasures(replica.view, measured) : ""));
  metrics.onScrape(() => {
    metrics.allocations(phaseCounts(replica.view));
    metrics.queueDepth(new Map(Array.from(replica.view.vclusters(), ({ id }) => [id, replica.view.pendingCount(id)])));
    metrics.heldBack(heldBack(replica.view));
    metrics.dags(tally(replica.view.dags(), dagState));
    metrics.nodes(tally(replica.view.nodes(), (node) => node.state.kind));
    const lasting = [...replica.view.notices()].filter((notice) => notice.clearedAt === undefined);
    metrics.notices(
      tally(lasting, (notice) => notice.kind),
      [...replica.view.deliveries()].length,
    );
    metrics.jobKeys(jobKeysOf(replica.view, Date.now()).length);
    metrics.auditUnsigned((replica.view.lastAudit()?.n ?? 0) - replica.view.signedAudit());
    metrics.networks(poolSize(replica.view.network), [...replica.view.domains()].length);
    metrics.leading(leads());
    metrics.agentsConnected(hub.count);
    metrics.output(hub.output());
    metrics.agentCertificateEnds(hub.firstCertificateEnd());
    metrics.terminalsOpen(terminals.count);
    metrics.checkpointStorage(awayOf(replica.view, checkpoints.storageErrors()).length);
    metrics.quotas(quotasOf(replica.view));
    metrics.checkpointsToRemove([...replica.view.clearings()].length);
    metrics.historyWaiting(history.waiting());
    const gap = history.gap();
    metrics.historyGap(gap === null ? 0 : gap.through - gap.after);
  });
}

const quotasOf = (view: View) =>
  Array.from(view.tenants(), ({ id, quota }) => ({ tenant: id, used: view.usage(id).nodes, most: quota.maxNodes }));

function heldBack(view: View): Parameters<Metrics["heldBack"]>[0] {
  let elements = 0;
  for (const group of view.groups()) elements += waitingCount(group);
  const onHold = { user: 0, admin: 0 };
  for (const { hold } of view.onHold()) if (hold !== undefined) onHold[hold.as] += 1;
  return { blocked: view.blockedCount, elements, onHold };
}

/** The phases in which there are allocations. */
const phaseCounts = (view: View): Record<string, number> =>
  Object.fromEntries(PHASES.map((kind) => [kind, view.phaseCount(kind)] as const).filter(([, count]) => count > 0));

const PHASES = Object.keys(allocationMoves) as readonly PhaseKind[];

function tally<T>(records: Iterable<T>, stateOf: (record: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const record of records) {
    const state = stateOf(record);
    counts[state] = (counts[state] ?? 0) + 1;
  }
  return counts;
}
