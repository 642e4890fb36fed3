// The closed set of commands. A command is a plain JSON-safe value; the log stores it, and `apply` folds it into the
// state. Everything that could differ between replicas (time, randomness, configuration) is a value inside it.

import type { Instant, LogIndex } from "./base/ids.ts";
import type { CancelCommand } from "./commands/allocation/cancel.ts";
import type { AskCheckpointCommand } from "./commands/allocation/checkpoint.ts";
import type { EndBackoffCommand } from "./commands/allocation/end-backoff.ts";
import type { HoldCommand } from "./commands/allocation/hold.ts";
import type { PreemptCommand } from "./commands/allocation/preempt.ts";
import type { RequeueCommand } from "./commands/allocation/requeue.ts";
import type { ResumeCommand } from "./commands/allocation/resume.ts";
import type { ScaleCommand } from "./commands/allocation/scale.ts";
import type { SubmitCommand } from "./commands/allocation/submit.ts";
import type { UpdateAllocationCommand } from "./commands/allocation/update.ts";
import type { AttemptCheckpointCommand } from "./commands/attempt/checkpoint.ts";
import type { ExpireCommand } from "./commands/attempt/expire.ts";
import type { ReportCommand } from "./commands/attempt/report.ts";
import type { KeepAuditKeyCommand } from "./commands/audit/keep-key.ts";
import type { RecordAuditCommand } from "./commands/audit/record.ts";
import type { RotateAuditKeyCommand } from "./commands/audit/rotate-key.ts";
import type { SignAuditCommand } from "./commands/audit/sign.ts";
import type { CheckpointClearedCommand } from "./commands/checkpoint/cleared.ts";
import type { ExpireCheckpointCommand } from "./commands/checkpoint/expire.ts";
import type { FoundClusterCommand } from "./commands/cluster/found.ts";
import type { RestoreAuditCommand } from "./commands/cluster/restore-audit.ts";
import type { BeginRestoreCommand } from "./commands/cluster/restore-begin.ts";
import type { CommitRestoreCommand } from "./commands/cluster/restore-commit.ts";
import type { RestoreHistoryCommand } from "./commands/cluster/restore-history.ts";
import type { RestoreTextCommand } from "./commands/cluster/restore-text.ts";
import type { SetConfigCommand } from "./commands/config/set.ts";
import type { CancelDagCommand } from "./commands/dag/cancel.ts";
import type { SubmitDagCommand } from "./commands/dag/submit.ts";
import type { CreateEnrolmentCommand } from "./commands/enrolment/create.ts";
import type { RemoveEnrolmentCommand } from "./commands/enrolment/remove.ts";
import type { UseEnrolmentCommand } from "./commands/enrolment/use.ts";
import type { AddGrantCommand } from "./commands/grant/add.ts";
import type { RemoveGrantCommand } from "./commands/grant/remove.ts";
import type { SubmitGroupCommand } from "./commands/group/submit.ts";
import type { DeliveredCommand } from "./commands/hooks/delivered.ts";
import type { SetHooksCommand } from "./commands/hooks/set.ts";
import type { SetLimitsCommand } from "./commands/limits/set.ts";
import type { SetDomainFabricCommand } from "./commands/network/fabric.ts";
import type { SetDomainGraceCommand } from "./commands/network/grace.ts";
import type { ReleaseDomainCommand } from "./commands/network/release.ts";
import type { SetNetworkCommand } from "./commands/network/set.ts";
import type { AssignNodeCommand } from "./commands/node/assign.ts";
import type { DisableNodeCommand } from "./commands/node/disable.ts";
import type { DrainNodeCommand } from "./commands/node/drain.ts";
import type { EnableNodeCommand } from "./commands/node/enable.ts";
import type { NodeHealthCommand } from "./commands/node/health.ts";
import type { ProbeNodeCommand } from "./commands/node/probe.ts";
import type { QuarantineNodeCommand } from "./commands/node/quarantine.ts";
import type { RegisterNodeCommand } from "./commands/node/register.ts";
import type { UndrainNodeCommand } from "./commands/node/undrain.ts";
import type { ClearNoticeCommand } from "./commands/notice/clear.ts";
import type { RaiseNoticeCommand } from "./commands/notice/raise.ts";
import type { PlanCommand } from "./commands/plan/commit.ts";
import type { SetRetentionCommand } from "./commands/retention/set.ts";
import type { KeepSecretCommand } from "./commands/secret/keep.ts";
import type { RotateSecretCommand } from "./commands/secret/rotate.ts";
import type { CloseSessionCommand } from "./commands/session/close.ts";
import type { OpenSessionCommand } from "./commands/session/open.ts";
import type { CreateTenantCommand } from "./commands/tenant/create.ts";
import type { DeleteTenantCommand } from "./commands/tenant/delete.ts";
import type { UpdateTenantCommand } from "./commands/tenant/update.ts";
import type { CreateVClusterCommand } from "./commands/vcluster/create.ts";
import type { DeleteVClusterCommand } from "./commands/vcluster/delete.ts";
import type { UpdateVClusterCommand } from "./commands/vcluster/update.ts";

type CheckpointCommand =
  | AskCheckpointCommand
  | AttemptCheckpointCommand
  | ExpireCheckpointCommand
  | ResumeCommand
  | CheckpointClearedCommand;

type AuditCommand = RecordAuditCommand | SignAuditCommand | KeepAuditKeyCommand | RotateAuditKeyCommand;

type EnrolmentCommand = CreateEnrolmentCommand | RemoveEnrolmentCommand | UseEnrolmentCommand;

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
  | EnrolmentCommand
  | KeepSecretCommand
  | RotateSecretCommand
  | AuditCommand
  | SetRetentionCommand
  | OpenSessionCommand
  | CloseSessionCommand
  | FoundClusterCommand
  | BeginRestoreCommand
  | RestoreTextCommand
  | CommitRestoreCommand
  | RestoreHistoryCommand
  | RestoreAuditCommand
  | EndBackoffCommand
  | SetLimitsCommand
  | SetNetworkCommand
  | SetDomainGraceCommand
  | ReleaseDomainCommand
  | SetDomainFabricCommand
  | QuarantineNodeCommand
  | ProbeNodeCommand
  | ScaleCommand
  | RaiseNoticeCommand
  | ClearNoticeCommand
  | SetHooksCommand
  | DeliveredCommand;

export type CommandKind = Command["kind"];

/** The record that the log stores. `at` never goes backwards: max(now, previous at). */
export interface Entry {
  readonly index: LogIndex;
  readonly term: import("./base/ids.ts").Term;
  /** The lowest version that its commands need; a replica halts on a version newer than its own. */
  readonly version: number;
  readonly at: Instant;
  /** Hash of the previous entry, in hex; "" for the first. */
  readonly prevHash: string;
  readonly commands: readonly Command[];
}
