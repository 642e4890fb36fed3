// The interface between the API and the rest of the server. Handlers read the view, propose
// commands and follow events through it; they never use the log, the leader or an agent directly.

import type { Allocation, AllocationId, AuditRecord, Command, Instant, LogIndex, NodeId, View } from "@lattice/core";
import type { PendingReason } from "@lattice/scheduler";
import type { pb } from "@lattice/wire";
import type { MetricsComponent } from "../../base/observe/components.ts";
import type { Recorded } from "../../base/observe/recorder.ts";
import type { AnswerTo, Question, QuestionKind } from "../../lead/insight/question.ts";
import type { LogStatus } from "../../log/contract/replicated-log.ts";
import type { ImageAsk } from "../../nodes/agents/images.ts";
import type { LogsQuery } from "../../nodes/output/query.ts";
import type { TerminalQuery } from "../../nodes/terminals/relay.ts";
import type { ReadFrom } from "../../state/audit/archive.ts";
import type { Backups } from "../../state/backup/backups.ts";
import type { Committed } from "../../state/committed.ts";
import type { Cursor, NumberedEvent } from "../../state/events/cursor.ts";
import type { RowQuery } from "../../state/history/index.ts";
import type { Membership } from "./membership.ts";

export interface StartEstimate {
  readonly at: Instant;
  /** Whether it is a reservation, which later submissions do not delay. */
  readonly reserved: boolean;
}

/** Tasks in running allocations. Runs on the leader. */
interface TaskPlane {
  /** Yields until the launch has ended; the signal aborts it. */
  launch(request: pb.LaunchTasksRequest, signal: AbortSignal): AsyncIterable<pb.LaunchTasksResponse>;
  input(request: pb.SendTaskInputRequest): void;
  control(request: pb.ControlLaunchRequest): void;
}

/** The successor of the current audit key. */
export interface PreparedKey {
  readonly previous: string;
  readonly publicKey: string;
  readonly endorsement: string | null;
  /** Number of servers that have stored the private key. */
  readonly holders: number;
}

/** The parts of the audit log outside the state. */
export interface AuditPlane {
  /** Records that have left the state, in the requested order. */
  archived(from: ReadFrom): AsyncIterable<AuditRecord>;
  /**
   * Creates the successor of the current key, and shares it with the members. Rejects with a ProblemError when it cannot
   * be shared, or when `lost` is not true of the current key.
   */
  prepareKey(lost: boolean): Promise<PreparedKey>;
}

export interface ControlPlane {
  readonly serverId: string;
  readonly version: string;
  view(): View;
  /** The server's clock, but never before the time of the last applied entry. */
  now(): Instant;
  /** Resolves when durable and applied. Rejects with a ProblemError (503) when it cannot be written. */
  propose(command: Command): Promise<Committed>;
  /** Resolves when the local replica has applied `index`. */
  waitFor(index: LogIndex, signal: AbortSignal): Promise<void>;
  /** Resolves when the local replica has everything that was durable at the time of the call. */
  waitForHead(signal: AbortSignal): Promise<void>;
  /** Yields events after the cursor, or from now on for `null`, until aborted. Throws ProblemError `cursor_gone`. */
  events(after: Cursor | null, signal: AbortSignal): AsyncIterable<readonly NumberedEvent[]>;
  /** Why it is pending, evaluated where the newest cycle has no answer and the queue is not too long. */
  pendingReasons(id: AllocationId): Promise<readonly PendingReason[]>;
  /** The reasons of the newest cycle, without a new evaluation; may be empty. For lists. */
  knownReasons(id: AllocationId): readonly PendingReason[];
  estimatedStart(id: AllocationId): StartEstimate | null;
  /** Asks the scheduler of this leader. Rejects with its problem, or with `not_leader`. */
  askScheduler<K extends QuestionKind>(question: Question<K>): Promise<AnswerTo<K>>;
  liveness(node: NodeId): { readonly lastHeardAt: Instant | null; readonly connected: boolean };
  /** Throws ProblemError `node_unreachable` when the node's agent is not connected. */
  logs(query: LogsQuery, signal: AbortSignal): AsyncIterable<{ readonly data: Uint8Array; readonly offset: number }>;
  /** Throws ProblemError when it cannot be opened; ends with the command, the input or the signal. */
  terminal(
    query: TerminalQuery,
    input: AsyncIterable<pb.AttachRequest>,
    signal: AbortSignal,
  ): AsyncIterable<pb.AttachResponse>;
  /** Asks a node's agent about images. Throws ProblemError `node_unreachable` when the agent is not connected. */
  askImages(node: NodeId, ask: ImageAsk, signal: AbortSignal): Promise<pb.ImageAnswer>;
  readonly tasks: TaskPlane;
  /** Finished allocations that have left the live state. */
  archived(id: AllocationId): Promise<Allocation | null>;
  archive(query: RowQuery): Promise<readonly Allocation[]>;
  /** The metrics of one component, or of all for `null`, with the points recorded after `after`. */
  recorded(component: MetricsComponent | null, after: number | null): Promise<Recorded>;
  logStatus(): LogStatus & { readonly appliedIndex: LogIndex; readonly isLeader: boolean };
  readonly audit: AuditPlane;
  readonly membership: Membership;
  readonly backups: Backups;
  /** Empty while it is being computed after the restore of a large state. */
  stateHash(): string;
  /** Whether this server has lost the leader: reads may be arbitrarily old, and writes fail. */
  stale(): boolean;
  /** Why this server must not answer calls; `null` when it may. */
  diverged(): string | null;
  /** Why this server cannot judge a call yet: it applies the log that it found at its start. `null` afterwards. */
  replaying(): string | null;
  /** Serving and caught up. */
  ready(): { readonly ok: boolean; readonly reason: string };
}
