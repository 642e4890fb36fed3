// The control plane as the API sees it: the local replica for reads, the leader's sequencer for
// writes, the hub for what only agents know, the history for what has left the live state.

import { type AllocationId, type Command, type Instant, instant, logIndex, type VClusterId } from "@lattice/core";
import { type CycleResult, type PendingReason, reasonsFor, snapshotFor } from "@lattice/scheduler";
import { ProblemError } from "@lattice/wire";
import type { AgentHub } from "./agents/hub.ts";
import type { LogRelay } from "./agents/logs.ts";
import type { ControlPlane, HistoryQuery } from "./api/control-plane.ts";
import type { Clock } from "./clock.ts";
import type { History } from "./history/index.ts";
import type { Leader } from "./leader/lead.ts";
import type { ReplicatedLog } from "./log/replicated-log.ts";
import type { Replica } from "./replica/replica.ts";

export interface PlaneParts {
  readonly serverId: string;
  readonly version: string;
  readonly log: ReplicatedLog;
  readonly replica: Replica;
  readonly leader: Leader;
  readonly hub: AgentHub;
  readonly logs: LogRelay;
  readonly history: History;
  readonly clock: Clock;
  /** The newest cycle of each vCluster. */
  readonly cycles: ReadonlyMap<VClusterId, CycleResult>;
}

export function createPlane(parts: PlaneParts): ControlPlane {
  const { replica, leader, hub, log, history } = parts;
  return {
    serverId: parts.serverId,
    version: parts.version,
    view: () => replica.view,
    async propose(command: Command) {
      const sequencer = leader.sequencer();
      if (sequencer === null) {
        throw new ProblemError("not_leader", { detail: "No server leads at the moment, so nothing can be written." });
      }
      return sequencer.propose(command);
    },
    waitFor: (index, signal) => replica.waitFor(index, signal),
    waitForHead: async (signal) => replica.waitFor(await log.head(), signal),
    events: (after, signal) => replica.feed.read(after, signal),
    pendingReasons: (id) => pendingReasons(parts, id),
    knownReasons: (id) => knownReasons(parts, id) ?? [],
    estimatedStart: (id) => estimatedStart(parts, id),
    liveness: (node) => ({ lastHeardAt: hub.lastHeard(node), connected: hub.connected(node) }),
    logs: (query, signal) => parts.logs.open(query, signal),
    archived: (id) => history.get(id),
    archive: (query: HistoryQuery) => history.list(query),
    logStatus: () => ({
      ...log.status(),
      appliedIndex: replica.head().index,
      isLeader: leader.sequencer() !== null,
    }),
    members: () => log.members(),
    stateHash: () => replica.stateHash(),
    ready() {
      if (leader.sequencer() === null) return { ok: false, reason: "no leader" };
      const { lastIndex, unwritable } = log.status();
      if (unwritable !== null) return { ok: false, reason: `the log cannot be written: ${unwritable}` };
      const behind = logIndex(Math.max(0, lastIndex - replica.head().index));
      // A few entries in flight are normal under load.
      return behind > 1_000 ? { ok: false, reason: `${behind} entries behind the log` } : { ok: true, reason: "" };
    },
  };
}

function pendingReasons(parts: PlaneParts, id: AllocationId): readonly PendingReason[] {
  const { replica, clock, hub } = parts;
  const allocation = replica.view.allocation(id);
  if (allocation?.phase.kind !== "pending") return [];
  const known = knownReasons(parts, id);
  if (known !== undefined) return known;
  const vcluster = replica.view.vcluster(allocation.spec.vcluster);
  return vcluster === undefined ? [] : reasonsFor(snapshotFor(replica.view, vcluster, clock.now(), hub.connected), id);
}

function knownReasons({ replica, cycles }: PlaneParts, id: AllocationId): readonly PendingReason[] | undefined {
  const allocation = replica.view.allocation(id);
  return allocation === undefined ? undefined : cycles.get(allocation.spec.vcluster)?.reasons.get(id);
}

function estimatedStart({ replica, cycles }: PlaneParts, id: AllocationId): Instant | null {
  const allocation = replica.view.allocation(id);
  if (allocation?.phase.kind !== "pending") return null;
  const estimate = cycles.get(allocation.spec.vcluster)?.estimates.get(id);
  return estimate === undefined ? null : instant(estimate);
}
