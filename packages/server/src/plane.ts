// The control plane as the API sees it: the local replica for reads, the leader's sequencer for
// writes, the hub for what only agents know, the history for what has left the live state.

import { type AllocationId, type Command, instant, isQueued, logIndex, type NodeId, waitReasons } from "@lattice/core";
import { type CycleResult, type PendingReason, reasonsFor, snapshotFor } from "@lattice/scheduler";
import { ProblemError } from "@lattice/wire";
import type { AgentHub } from "./agents/hub.ts";
import type { ImageAsk, ImageRelay } from "./agents/images.ts";
import type { LogRelay } from "./agents/logs.ts";
import type { AuditPlane, ControlPlane, LogsQuery, Proposed, StartEstimate } from "./api/control-plane.ts";
import type { Membership } from "./api/membership.ts";
import type { Backups } from "./backup/index.ts";
import type { Clock } from "./clock.ts";
import type { History } from "./history/index.ts";
import type { AnswerTo, Insight, Question, QuestionKind } from "./insight/index.ts";
import type { Leader } from "./leader/lead.ts";
import { tooNewFor } from "./leader/versions.ts";
import type { ReplicatedLog } from "./log/replicated-log.ts";
import type { LogArchive, LogPiece } from "./logs/archive.ts";
import { type LiveLogs, readLogs } from "./logs/read.ts";
import { shareFollowers } from "./logs/share.ts";
import type { Recorder } from "./observe/recorder.ts";
import { parsePeer } from "./peers/address.ts";
import type { PeerClient } from "./peers/client.ts";
import type { LeaderLine, Liveness } from "./peers/line.ts";
import type { Roster } from "./peers/roster.ts";
import type { Replica } from "./replica/replica.ts";
import type { Launches } from "./tasks/launches.ts";
import { relayedLaunch } from "./tasks/relayed.ts";
import type { TerminalRelay } from "./terminals/relay.ts";
import { relayedTerminal } from "./terminals/relayed.ts";

/** How long a follower waits to see what the leader has committed for it. */
const CATCH_UP_MS = 5_000;

/** Entries that a replica which follows the log may be behind at any moment. */
const IN_FLIGHT = 16;
/** More than that, and what this server answers is too old to be sent callers. */
const MOST_BEHIND = 1_000;

export interface PlaneParts {
  readonly serverId: string;
  readonly version: string;
  readonly log: ReplicatedLog;
  readonly replica: Replica;
  readonly leader: Leader;
  readonly line: LeaderLine;
  readonly roster: Roster;
  readonly audit: AuditPlane;
  readonly membership: Membership;
  readonly backups: Backups;
  readonly hub: AgentHub;
  readonly logs: LogRelay;
  readonly terminals: TerminalRelay;
  /** Null: output is on the nodes alone. */
  readonly archive: LogArchive | null;
  readonly images: ImageRelay;
  readonly launches: Launches;
  /** This server is about to stop: whoever is cut off by that has not gone away. */
  readonly closing: () => boolean;
  readonly history: History;
  readonly clock: Clock;
  readonly insight: Insight;
  readonly recorder: Recorder;
}

export function createPlane(parts: PlaneParts): ControlPlane {
  const { replica, leader, line, log, history } = parts;
  /** An entry may hold hundreds of commands: a server that has just started has all of them to read first. */
  let caughtUp = false;
  const live = liveLogs(parts);
  return {
    serverId: parts.serverId,
    version: parts.version,
    view: () => replica.view,
    // Leaders' clocks differ: what the log says has happened is not in the future.
    now: () => instant(Math.max(parts.clock.now(), replica.view.at)),
    propose: (command) => propose(parts, command),
    waitFor: (index, signal) => replica.waitFor(index, signal),
    waitForHead: async (signal) => replica.waitFor(await log.head(), signal),
    events: (after, signal) => replica.feed.read(after, signal),
    pendingReasons: (id) => pendingReasons(parts, id),
    knownReasons: (id) => knownReasons(parts, id) ?? [],
    estimatedStart: (id) => estimatedStart(parts, id),
    consult: (question) => consult(parts, question),
    liveness: (node) => liveness(parts, node),
    logs: (query, signal) => logsOf(parts, live, query, signal),
    terminal: (query, input, signal) => terminalOf(parts, query, input, signal),
    askImages: (node, ask, signal) => askImages(parts, node, ask, signal),
    tasks: tasksOf(parts),
    archived: (id) => history.get(id),
    archive: (query) => history.list(query),
    async recorded(component, after) {
      await parts.recorder.look();
      return parts.recorder.read(component, after);
    },
    logStatus: () => ({
      ...log.status(),
      leader: leaderId(parts),
      appliedIndex: replica.head().index,
      isLeader: leader.sequencer() !== null,
    }),
    audit: parts.audit,
    membership: parts.membership,
    backups: parts.backups,
    stateHash: () => replica.stateHashAtHand() ?? "",
    stale: () => leader.sequencer() === null && (line.leader() === null || log.status().unwritable !== null),
    ready() {
      if (leader.sequencer() === null && line.leader() === null) return { ok: false, reason: "no server leads" };
      const { lastIndex, unwritable } = log.status();
      if (unwritable !== null) return { ok: false, reason: `the log cannot be written: ${unwritable}` };
      const behind = logIndex(Math.max(0, lastIndex - replica.head().index));
      // A few entries in flight are normal under load.
      caughtUp ||= behind <= IN_FLIGHT;
      const far = !caughtUp || behind > MOST_BEHIND;
      return far ? { ok: false, reason: `${behind} entries behind the log` } : { ok: true, reason: "" };
    },
  };
}

/** Written here when this server leads, by the leader otherwise; in both cases visible here afterwards. */
async function propose({ leader, line, replica, roster }: PlaneParts, command: Command): Promise<Proposed> {
  const sequencer = leader.sequencer();
  if (sequencer !== null) return sequencer.propose(command);
  // A leader of the version before would write down what it does not understand.
  const tooNew = tooNewFor(command, roster.readers);
  if (tooNew !== null) throw tooNew;
  const peer = line.client();
  if (peer === null) {
    throw new ProblemError("not_leader", { detail: "No server leads at the moment, so nothing can be written." });
  }
  const proposed = await peer.propose(command);
  // Committed already: if this replica is slow, the answer is no less true.
  await replica.waitFor(proposed.index, AbortSignal.timeout(CATCH_UP_MS)).catch(() => {});
  return proposed;
}

/** The leader's scheduler alone knows its reservations and signals. */
async function consult<K extends QuestionKind>(
  { leader, line, insight }: PlaneParts,
  question: Question<K>,
): Promise<AnswerTo<K>> {
  if (leader.sequencer() !== null) return insight.answer(question);
  const peer = line.client();
  if (peer !== null) return peer.consult(question);
  throw new ProblemError("not_leader", { detail: "No server leads at the moment, so the scheduler cannot be asked." });
}

function liveness({ leader, hub, line }: PlaneParts, node: NodeId): Liveness {
  if (leader.sequencer() === null && line.leader() !== null) return line.liveness(node);
  return { lastHeardAt: hub.lastHeard(node), connected: hub.connected(node) };
}

/** From the nodes: by this server when it leads, by the leader otherwise. */
function liveLogs({ leader, line, logs }: PlaneParts): LiveLogs {
  const byLeader = shareFollowers((asked, gone) => line.client()?.logs(asked, gone) ?? logs.open(asked, gone));
  return (asked, gone) => (leader.sequencer() === null && line.client() !== null ? byLeader : logs.open)(asked, gone);
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

function terminalOf(
  { leader, line, terminals }: PlaneParts,
  ...[query, input, signal]: Parameters<ControlPlane["terminal"]>
): ReturnType<ControlPlane["terminal"]> {
  const peer = leader.sequencer() === null ? line.client() : null;
  return peer === null ? terminals.open(query, input, signal) : relayedTerminal(peer, query, input, signal);
}

function askImages({ leader, line, images }: PlaneParts, node: NodeId, ask: ImageAsk, signal: AbortSignal) {
  const peer = leader.sequencer() === null ? line.client() : null;
  return peer === null ? images.ask(node, ask, signal) : peer.askImages(node, ask);
}

function tasksOf({ leader, line, launches, closing }: PlaneParts): ControlPlane["tasks"] {
  const atLeader = <T>(there: (peer: PeerClient) => T, here: () => T): T => {
    if (leader.sequencer() !== null) return here();
    const peer = line.client();
    if (peer !== null) return there(peer);
    throw new ProblemError("not_leader", { detail: "No server leads at the moment, so no launch can be reached." });
  };
  return {
    launch: (request, signal) =>
      atLeader(
        (peer) => relayedLaunch(peer, request, { signal, closing }),
        () => launches.launch(request, { signal, relayed: false }),
      ),
    input: async (request) =>
      atLeader(
        (peer) => peer.taskInput(request),
        async () => launches.input(request),
      ),
    tell: async (request) =>
      atLeader(
        (peer) => peer.tellLaunch(request),
        async () => launches.tell(request),
      ),
  };
}

function leaderId({ log }: PlaneParts): string | null {
  const name = log.status().leader;
  return name === null ? null : (parsePeer(name)?.id ?? name);
}

function pendingReasons(parts: PlaneParts, id: AllocationId): readonly PendingReason[] {
  const { replica, clock, insight } = parts;
  const reachable = (node: NodeId) => liveness(parts, node).connected;
  const allocation = replica.view.allocation(id);
  if (allocation?.phase.kind !== "pending") return [];
  if (!isQueued(allocation)) return waitReasons(replica.view, allocation);
  const known = knownReasons(parts, id);
  if (known !== undefined) return known;
  const vcluster = replica.view.vcluster(allocation.spec.vcluster);
  if (vcluster === undefined) return [];
  const now = clock.now();
  return reasonsFor(snapshotFor(replica.view, vcluster, now, reachable, insight.beyond(vcluster.id, now)), id);
}

function knownReasons(
  { replica, insight: { cycles } }: PlaneParts,
  id: AllocationId,
): readonly PendingReason[] | undefined {
  const allocation = replica.view.allocation(id);
  if (allocation?.phase.kind !== "pending") return undefined;
  if (!isQueued(allocation)) return waitReasons(replica.view, allocation);
  return cycles.get(allocation.spec.vcluster)?.reasons.get(id);
}

function estimatedStart({ replica, insight: { cycles } }: PlaneParts, id: AllocationId): StartEstimate | null {
  const allocation = replica.view.allocation(id);
  if (allocation?.phase.kind !== "pending") return null;
  const cycle = cycles.get(allocation.spec.vcluster);
  const estimate = cycle?.estimates.get(id);
  return cycle === undefined || estimate === undefined
    ? null
    : { at: instant(estimate), reserved: reservedIn(cycle).has(id) };
}

/** Made once for a cycle: lists ask for many. */
function reservedIn(cycle: CycleResult): ReadonlySet<AllocationId> {
  const known = reserved.get(cycle);
  if (known !== undefined) return known;
  const made = new Set(cycle.reservations.map(({ allocation }) => allocation));
  reserved.set(cycle, made);
  return made;
}

const reserved = new WeakMap<CycleResult, ReadonlySet<AllocationId>>();
