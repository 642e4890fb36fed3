// The control plane behind the API: the local replica for reads, the sequencer for writes, the agents, and the history
// for finished allocations. Calls that need the leader run on the leader; `api/invoke.ts` forwards them.

import { type AllocationId, type Command, instant, isQueued, logIndex, type NodeId, waitReasons } from "@lattice/core";
import { type PendingReason, reasonsFor, snapshotFor } from "@lattice/scheduler";
import { ProblemError } from "@lattice/wire";
import type { AuditPlane, ControlPlane, StartEstimate } from "../api/call/control-plane.ts";
import type { Membership } from "../api/call/membership.ts";
import type { Clock } from "../base/clock.ts";
import type { Recorder } from "../base/observe/recorder.ts";
import { tooNewFor } from "../lead/commit/versions.ts";
import type { Insight } from "../lead/insight/index.ts";
import type { Leader } from "../lead/leader/lead.ts";
import type { PlannerLink } from "../lead/planner/link.ts";
import type { ReplicatedLog } from "../log/contract/replicated-log.ts";
import type { AgentHub } from "../nodes/agents/hub.ts";
import type { ImageRelay } from "../nodes/agents/images.ts";
import type { LogRelay } from "../nodes/agents/logs.ts";
import type { LogPiece, OutputArchive } from "../nodes/output/archive.ts";
import type { LogsQuery } from "../nodes/output/query.ts";
import { type LiveLogs, readLogs } from "../nodes/output/read.ts";
import { shareFollowers } from "../nodes/output/share.ts";
import type { Launches } from "../nodes/tasks/launches.ts";
import type { TerminalRelay } from "../nodes/terminals/relay.ts";
import { parsePeer } from "../peers/address.ts";
import type { DivergenceWatch } from "../peers/divergence-watch.ts";
import type { LeaderConnection, Liveness } from "../peers/leader-connection.ts";
import type { Roster } from "../peers/roster.ts";
import type { Backups } from "../state/backup/index.ts";
import type { Committed } from "../state/committed.ts";
import type { DiskWatch } from "../state/disks/watch.ts";
import type { History } from "../state/history/index.ts";
import type { Replica } from "../state/replica/replica.ts";

/** How long a follower waits to apply an entry that the leader committed for it. */
const CATCH_UP_MS = 5_000;

/** Entries that a replica which follows the log may be behind at any moment. */
const IN_FLIGHT = 16;
/** In a longer queue the causes of one allocation are not evaluated for a single read: it takes a tenth of a second. */
const EVALUATED_QUEUE = 2_000;
/** A server further behind is not ready: its answers are too old. */
const MAX_BEHIND = 1_000;

export interface PlaneParts {
  readonly serverId: string;
  readonly version: string;
  readonly log: ReplicatedLog;
  readonly replica: Replica;
  readonly leader: Leader;
  readonly connection: LeaderConnection;
  readonly roster: Roster;
  readonly divergence: Pick<DivergenceWatch, "found">;
  readonly disks: Pick<DiskWatch, "refusal">;
  readonly audit: AuditPlane;
  readonly membership: Membership;
  readonly backups: Backups;
  readonly hub: AgentHub;
  readonly logs: LogRelay;
  readonly terminals: TerminalRelay;
  /** `null` when output is not archived. */
  readonly archive: OutputArchive | null;
  readonly images: ImageRelay;
  readonly launches: Launches;
  readonly history: History;
  readonly clock: Clock;
  /** Days over which use counts towards budgets and shares. */
  readonly budgetDays: () => number;
  readonly insight: Insight;
  readonly planner: Pick<PlannerLink, "cycles" | "ask">;
  readonly recorder: Recorder;
}

export function createPlane(parts: PlaneParts): ControlPlane {
  const { replica, leader, connection, log, history } = parts;
  /** A server that has just started is not ready before it has caught up once. */
  let caughtUp = false;
  /** The end of the log when this server started. */
  const foundEnd = log.status().lastIndex;
  const live = liveLogs(parts);
  return {
    serverId: parts.serverId,
    version: parts.version,
    view: () => replica.view,
    // Clocks of leaders differ: the last entry must not be in the future.
    now: () => instant(Math.max(parts.clock.now(), replica.view.at)),
    propose: (command) => propose(parts, command),
    waitFor: (index, signal) => replica.waitFor(index, signal),
    waitForHead: async (signal) => replica.waitFor(await log.head(), signal),
    events: (after, signal) => replica.feed.read(after, signal),
    pendingReasons: (id) => pendingReasons(parts, id),
    knownReasons: (id) => knownReasons(parts, id) ?? [],
    estimatedStart: (id) => estimatedStart(parts, id),
    askScheduler: async (question) => {
      if (leader.sequencer() === null) throw noLeader("so the scheduler cannot answer");
      return parts.insight.answer(question);
    },
    liveness: (node) => liveness(parts, node),
    logs: (query, signal) => logsOf(parts, live, query, signal),
    terminal: parts.terminals.open,
    askImages: parts.images.ask,
    tasks: tasksOf(parts),
    archived: (id) => history.get(id),
    archive: (query) => history.list(query),
    async recorded(component, after) {
      await parts.recorder.sample();
      return parts.recorder.read(component, after);
    },
    logStatus: () => ({
      ...log.status(),
      unwritable: log.status().unwritable ?? fullDisk(parts),
      leader: leaderId(parts),
      appliedIndex: replica.head().index,
      isLeader: leader.sequencer() !== null,
    }),
    audit: parts.audit,
    membership: parts.membership,
    backups: parts.backups,
    stateHash: () => replica.stateHashIfCheap() ?? "",
    stale: () => leader.sequencer() === null && (connection.leader() === null || log.status().unwritable !== null),
    diverged: () => diverged(parts),
    replaying() {
      const { index } = replica.head();
      if (index >= foundEnd) return null;
      return `This server has just started and has applied entry ${index} of ${foundEnd} of the log.`;
    },
    ready() {
      const difference = diverged(parts);
      if (difference !== null) return { ok: false, reason: difference };
      if (leader.sequencer() === null && connection.leader() === null)
        return { ok: false, reason: fullDisk(parts) ?? "no server leads" };
      const { lastIndex, unwritable } = log.status();
      if (unwritable !== null) return { ok: false, reason: `the log cannot be written: ${unwritable}` };
      const behind = logIndex(Math.max(0, lastIndex - replica.head().index));
      // A few entries in flight are normal under load.
      caughtUp ||= behind <= IN_FLIGHT;
      const isBehind = !caughtUp || behind > MAX_BEHIND;
      return isBehind ? { ok: false, reason: `${behind} entries behind the log` } : { ok: true, reason: "" };
    },
  };
}

/** Why this server, which leads or is the only one, has no space for new work; `null`: it has, or another one leads. */
function fullDisk({ disks, leader, log, connection }: PlaneParts): string | null {
  const decides = log.shared === undefined || leader.sequencer() !== null || connection.leader() === null;
  return decides ? disks.refusal() : null;
}

function diverged({ divergence }: PlaneParts): string | null {
  const found = divergence.found();
  if (found === null) return null;
  return `The state of this server at entry ${found.index} differs from that of the other servers; restart it.`;
}

/** Appends the command here or through the leader; in both cases this replica has applied it afterwards. */
async function propose(parts: PlaneParts, command: Command): Promise<Committed> {
  const { leader, connection, replica, roster } = parts;
  const sequencer = leader.sequencer();
  if (sequencer !== null) return sequencer.propose(command);
  // A leader of the previous version would append a command that it cannot apply.
  const tooNew = tooNewFor(command, roster.readers);
  if (tooNew !== null) throw tooNew;
  const peer = connection.client();
  const full = peer === null ? fullDisk(parts) : null;
  if (full !== null) throw new ProblemError("storage_full", { detail: full });
  if (peer === null) throw noLeader("so nothing can be written");
  const proposed = await peer.propose(command);
  // The command is committed, so a slow replica does not fail the call.
  await replica.waitFor(proposed.index, AbortSignal.timeout(CATCH_UP_MS)).catch(() => {});
  return proposed;
}

function liveness({ leader, hub, connection }: PlaneParts, node: NodeId): Liveness {
  if (leader.sequencer() === null && connection.leader() !== null) return connection.liveness(node);
  return { lastHeardAt: hub.lastHeard(node), connected: hub.connected(node) };
}

/** Output from the nodes: directly on the leader, through the leader on a follower. */
function liveLogs({ leader, connection, logs }: PlaneParts): LiveLogs {
  const byLeader = shareFollowers(
    (query, gone) => connection.client()?.readOutput(query, gone) ?? logs.open(query, gone),
  );
  return (query, gone) =>
    (leader.sequencer() === null && connection.client() !== null ? byLeader : logs.open)(query, gone);
}

async function* logsOf(
  { archive, replica, history }: PlaneParts,
  live: LiveLogs,
  query: LogsQuery,
  signal: AbortSignal,
): AsyncGenerator<LogPiece> {
  const record = replica.view.allocation(query.allocation) ?? (await history.get(query.allocation));
  const find = async () => (archive === null || record === null ? null : archive.find(query, record.spec));
  yield* readLogs(query, find, live, signal);
}

function tasksOf({ leader, launches }: PlaneParts): ControlPlane["tasks"] {
  const led = (): Launches => {
    if (leader.sequencer() === null) throw noLeader("so no launch can be reached");
    return launches;
  };
  return {
    launch: (request, signal) => led().launch(request, { signal }),
    input: (request) => led().input(request),
    control: (request) => led().control(request),
  };
}

const noLeader = (consequence: string): ProblemError =>
  new ProblemError("not_leader", { detail: `No server leads at the moment, ${consequence}.` });

function leaderId({ log }: PlaneParts): string | null {
  const name = log.status().leader;
  return name === null ? null : (parsePeer(name)?.id ?? name);
}

/** Returns the known causes, or evaluates them where that does not take long. */
async function pendingReasons(parts: PlaneParts, id: AllocationId): Promise<readonly PendingReason[]> {
  const { replica, leader, planner } = parts;
  const allocation = replica.view.allocation(id);
  if (allocation?.phase.kind !== "pending") return [];
  const known = knownReasons(parts, id);
  if (known !== undefined) return known;
  const vcluster = replica.view.vcluster(allocation.spec.vcluster);
  if (vcluster === undefined) return [];
  const length = replica.view.pendingCount(vcluster.id);
  if (length > EVALUATED_QUEUE) return [notEvaluated(`one of ${length} allocations in the queue`)];
  if (leader.sequencer() !== null)
    return planner.ask({ kind: "reasons", id }).catch((error: unknown) => {
      if (error instanceof ProblemError) return [notEvaluated("the scheduler is restarting")];
      throw error;
    });
  const reachable = (node: NodeId) => liveness(parts, node).connected;
  const external = { budgetDays: parts.budgetDays() };
  return reasonsFor(snapshotFor(replica.view, vcluster, parts.clock.now(), reachable, external), id);
}

const notEvaluated = (text: string): PendingReason => ({ code: "not_considered", text });

function knownReasons(
  { replica, planner: { cycles } }: PlaneParts,
  id: AllocationId,
): readonly PendingReason[] | undefined {
  const allocation = replica.view.allocation(id);
  if (allocation?.phase.kind !== "pending") return undefined;
  if (!isQueued(allocation)) return waitReasons(replica.view, allocation);
  return cycles.get(allocation.spec.vcluster)?.reasons(id);
}

function estimatedStart({ replica, planner: { cycles } }: PlaneParts, id: AllocationId): StartEstimate | null {
  const allocation = replica.view.allocation(id);
  if (allocation?.phase.kind !== "pending") return null;
  const cycle = cycles.get(allocation.spec.vcluster);
  const at = cycle?.estimate(id);
  return cycle === undefined || at === undefined ? null : { at, reserved: cycle.isReserved(id) };
}
