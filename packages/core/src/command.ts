// The closed set of commands. A command is a plain JSON-safe value; the log stores it, `apply`
// folds it into state. Everything that could differ between replicas (time, chance, configuration)
// is already a value inside it.

import type { Scores } from "./allocation/allocation.ts";
import type { CancelCommand, HoldCommand, SubmitCommand, UpdateAllocationCommand } from "./allocation/commands.ts";
import type { FailureReason } from "./allocation/phase.ts";
import type { AllocationSpec } from "./allocation/spec.ts";
import type { CheckpointWord } from "./checkpoint/checkpoint.ts";
import type { CheckpointCommand } from "./checkpoint/commands.ts";
import type {
  AddGrantCommand,
  BeginLedgerCommand,
  BeginRestoreCommand,
  ClearNoticeCommand,
  CommitRestoreCommand,
  CreateTenantCommand,
  CreateVClusterCommand,
  DeleteTenantCommand,
  DeleteVClusterCommand,
  DeliveredCommand,
  KeepSecretCommand,
  RaiseNoticeCommand,
  RecordAuditCommand,
  RemoveGrantCommand,
  RestoreAuditCommand,
  RestoreHistoryCommand,
  RestoreTextCommand,
  RotateSecretCommand,
  SetConfigCommand,
  SetHooksCommand,
  SetRetentionCommand,
  UpdateTenantCommand,
  UpdateVClusterCommand,
} from "./cluster/commands.ts";
import type { GroupShape } from "./group/group.ts";
import type {
  AllocationId,
  Attempt,
  DagId,
  Duration,
  GroupId,
  Instant,
  LogIndex,
  NodeId,
  TenantId,
  VClusterId,
} from "./ids.ts";
import type { NetworkSettings } from "./network/domain.ts";
import type { SetAsideRule } from "./node/black-hole.ts";
import type { Capabilities } from "./node/node.ts";
import type { Origin } from "./origin.ts";
import type { ClusterLimits } from "./settings/limits.ts";

export type * from "./allocation/commands.ts";
export type * from "./cluster/commands.ts";
export type { Origin } from "./origin.ts";

export interface SubmitGroupCommand extends GroupShape {
  readonly kind: "group.submit";
  readonly origin: Origin;
  /** Of every element. */
  readonly spec: AllocationSpec;
  readonly createTenant: boolean;
  /** As of one allocation. */
  readonly hold?: boolean;
}
/** One step of a DAG. The references of its dependencies are names of members. */
export interface DagMember {
  readonly name: string;
  readonly spec: AllocationSpec;
  /** Null: one allocation. */
  readonly group: GroupShape | null;
}
export interface SubmitDagCommand {
  readonly kind: "dag.submit";
  readonly origin: Origin;
  readonly name: string;
  readonly members: readonly DagMember[];
  readonly createTenant: boolean;
  /** From configuration. */
  readonly maxMembers: number;
}
export interface CancelDagCommand {
  readonly kind: "dag.cancel";
  readonly origin: Origin;
  readonly id: DagId;
  readonly reason: string;
}
export interface Placement {
  readonly allocation: AllocationId;
  /** The attempt this placement begins: the record's attempt plus one, or it is stale. */
  readonly attempt: Attempt;
  readonly nodes: readonly NodeId[];
  readonly scores: Scores;
  readonly backfilled: boolean;
  /** It takes a part of its one node only, alone there or beside others. Absent: all of its nodes. */
  readonly shared?: true;
}
export interface PlanCommand {
  readonly kind: "plan.commit";
  readonly vcluster: VClusterId;
  /** The last entry the scheduler had seen. */
  readonly basis: LogIndex;
  readonly placements: readonly Placement[];
}

/** One node's word on one attempt. Taken only from an assigned node, only forwards, once. */
export interface ReportCommand {
  readonly kind: "attempt.report";
  readonly node: NodeId;
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
  readonly state: "staging" | "running" | "completed" | "failed";
  readonly exitCode: number | null;
  /** For failed. */
  readonly reason: FailureReason | null;
  readonly message: string;
  /** The newest checkpoint that the node was asked for, once it is over there. Absent: nothing to say. */
  readonly checkpoint?: CheckpointWord;
  /** For a prologue or a launch that failed: so often it is tried elsewhere. Absent: the usual for a prologue, never for a launch. */
  readonly prologueRetries?: number;
  /** For a prologue: it failed where a mistake in the work fails as surely as a bad node does. */
  readonly mayBeWork?: true;
  /** For failed: when that is one too many for the node. Absent: that is left to somebody who looks later. */
  readonly setAside?: SetAsideRule;
}
/** The server's backstop: an attempt whose walltime is long over is ended from here. */
export interface ExpireCommand {
  readonly kind: "attempt.expire";
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
}
/** Ends the attempt and queues the allocation again, in one move. */
export interface RequeueCommand {
  readonly kind: "allocation.requeue";
  readonly allocation: AllocationId;
  /** Two reconcilers cannot count twice. */
  readonly expectedRequeues: number;
  readonly cause: "node_failure" | "launch_failed" | "drained" | "policy" | "updated";
}

/** Limits of the whole cluster; from configuration. */
export interface SetLimitsCommand {
  readonly kind: "limits.set";
  readonly limits: ClusterLimits;
}

/** The pool of network numbers and its limits; from configuration. */
export interface SetNetworkCommand {
  readonly kind: "network.set";
  readonly settings: NetworkSettings;
}
export interface SetDomainGraceCommand {
  readonly kind: "network.grace";
  readonly origin: Origin;
  readonly tenant: TenantId;
  readonly name: string;
  readonly grace: Duration;
}
/** What the fabric manager has confirmed of a domain, or why it could not be asked. */
export interface SetDomainFabricCommand {
  readonly kind: "network.fabric";
  readonly key: string;
  readonly vni: number;
  /** All of them, in order. */
  readonly nodes: readonly NodeId[];
  /** Empty: none. */
  readonly problem: string;
}
/** A domain has been without members for long enough. */
export interface ReleaseDomainCommand {
  readonly kind: "network.release";
  readonly key: string;
}

/** A service has waited long enough to be begun again. */
export interface ReleaseHeldCommand {
  readonly kind: "allocation.release";
  readonly allocation: AllocationId;
}

/** A running service gets or gives up one node. */
export interface ScaleCommand {
  readonly kind: "allocation.scale";
  readonly allocation: AllocationId;
  /** As whoever decided has seen it. */
  readonly attempt: Attempt;
  readonly size: number;
  readonly change: "add" | "remove";
  readonly node: NodeId;
  readonly reason: "metric" | "minimum" | "maximum" | "renewal" | "node_failure" | "reclaim";
  /** In words, for the record. */
  readonly detail: string;
}

/** Stops running work for an allocation that waits, and keeps the nodes for it. All victims or none. */
export interface PreemptCommand {
  readonly kind: "allocation.preempt";
  /** The one they are stopped for. */
  readonly allocation: AllocationId;
  /** The last entry the scheduler had seen. */
  readonly basis: LogIndex;
  readonly victims: readonly {
    readonly allocation: AllocationId;
    readonly attempt: Attempt;
    /** It cannot be checkpointed at present, and is stopped without. Absent: it is, where it can be. */
    readonly force?: boolean;
  }[];
  /** Where it is to start: nodes of the victims, and free ones. */
  readonly nodes: readonly NodeId[];
}

export interface RegisterNodeCommand {
  readonly kind: "node.register";
  readonly node: NodeId;
  readonly capabilities: Capabilities;
  readonly group: GroupId;
  readonly conformance: string;
  readonly homeVCluster: VClusterId | null;
  readonly address: string;
  readonly agentVersion: string;
  readonly bootId: string;
}
/** Judged by the leader from heartbeats, which are not in the log, or told by what watches from outside. */
export interface NodeHealthCommand {
  readonly kind: "node.health";
  readonly node: NodeId;
  /** The last two: told from outside; a warning is an event, and repaired hardware comes back. */
  readonly verdict: "heard" | "late" | "silent" | "hardware" | "warning" | "repaired";
  readonly reason: string;
}
/** A node that fails what it is given, or stays different. Null: until somebody enables it. */
export interface SetAsideNodeCommand {
  readonly kind: "node.set_aside";
  readonly node: NodeId;
  readonly reason: string;
  readonly until: Instant | null;
  /** Of all nodes, in percent, that may be set aside; absent: the usual. */
  readonly most?: number;
}
/** A node that was set aside is given work again. */
export interface ProbeNodeCommand {
  readonly kind: "node.probe";
  readonly node: NodeId;
  /** Of its failures so many are remembered; absent: all but one of the usual number. */
  readonly keep?: number;
}
export interface DrainNodeCommand {
  readonly kind: "node.drain";
  readonly origin: Origin;
  readonly node: NodeId;
  readonly reason: string;
  /** Who can be is checkpointed and queued again at once; others end by themselves. Absent: all do. */
  readonly urgent?: boolean;
}
export interface UndrainNodeCommand {
  readonly kind: "node.undrain";
  readonly origin: Origin;
  readonly node: NodeId;
}
export interface DisableNodeCommand {
  readonly kind: "node.disable";
  readonly origin: Origin;
  readonly node: NodeId;
  readonly reason: string;
}
/** At which vCluster it is at home from now on, whatever its agent says; null: it serves all. */
export interface AssignNodeCommand {
  readonly kind: "node.assign";
  readonly origin: Origin;
  readonly node: NodeId;
  readonly vcluster: VClusterId | null;
}
export interface EnableNodeCommand {
  readonly kind: "node.enable";
  readonly origin: Origin;
  readonly node: NodeId;
}

/** A terminal is wanted in a running allocation. */
export interface OpenSessionCommand {
  readonly kind: "session.open";
  readonly origin: Origin;
  readonly allocation: AllocationId;
}
/** The allocation that was made for the session ends with it. */
export interface CloseSessionCommand {
  readonly kind: "session.close";
  readonly origin: Origin;
  readonly allocation: AllocationId;
  readonly n: number;
  /** Of the shell. */
  readonly exitCode: number | null;
  /** Work ran in it: it fails with an exit code other than 0. Absent: a person was there, and has left. */
  readonly exitCounts?: true;
}

export type Command =
  | SubmitCommand
  | CancelCommand
  | HoldCommand
  | SubmitGroupCommand
  | SubmitDagCommand
  | CancelDagCommand
  | UpdateAllocationCommand
  | PlanCommand
  | ReportCommand
  | ExpireCommand
  | RequeueCommand
  | PreemptCommand
  | CheckpointCommand
  | RegisterNodeCommand
  | NodeHealthCommand
  | DrainNodeCommand
  | UndrainNodeCommand
  | DisableNodeCommand
  | EnableNodeCommand
  | AssignNodeCommand
  | CreateTenantCommand
  | UpdateTenantCommand
  | CreateVClusterCommand
  | UpdateVClusterCommand
  | DeleteTenantCommand
  | DeleteVClusterCommand
  | SetConfigCommand
  | AddGrantCommand
  | RemoveGrantCommand
  | KeepSecretCommand
  | RotateSecretCommand
  | RecordAuditCommand
  | SetRetentionCommand
  | BeginLedgerCommand
  | OpenSessionCommand
  | CloseSessionCommand
  | BeginRestoreCommand
  | RestoreTextCommand
  | CommitRestoreCommand
  | RestoreHistoryCommand
  | RestoreAuditCommand
  | ReleaseHeldCommand
  | SetLimitsCommand
  | SetNetworkCommand
  | SetDomainGraceCommand
  | ReleaseDomainCommand
  | SetDomainFabricCommand
  | SetAsideNodeCommand
  | ProbeNodeCommand
  | ScaleCommand
  | RaiseNoticeCommand
  | ClearNoticeCommand
  | SetHooksCommand
  | DeliveredCommand;

export type CommandKind = Command["kind"];

/** What the log stores. `at` never goes backwards: max(now, previous at). */
export interface Entry {
  readonly index: LogIndex;
  readonly term: import("./ids.ts").Term;
  /** The least that its commands need; a replica halts on one newer than its own. */
  readonly version: number;
  readonly at: Instant;
  /** Hash of the entry before, hex; "" for the first. */
  readonly prevHash: string;
  readonly commands: readonly Command[];
}
