// Commands about the cluster as a whole rather than its work: tenants, vClusters, settings, roles,
// records of who did what, retention, restores, and who is told of what.

import type { GrantRole } from "../access/grant.ts";
import type { SecretName } from "../access/secret.ts";
import type { Allocation } from "../allocation/allocation.ts";
import type { Deed } from "../audit/deed.ts";
import type { AuditRecord } from "../audit/record.ts";
import type { Duration, TenantId, UserName, VClusterId } from "../ids.ts";
import type { Hook } from "../notice/hook.ts";
import type { Notice } from "../notice/notice.ts";
import type { Origin } from "../origin.ts";
import type { Quota } from "../tenant/tenant.ts";
import type { Lending, Preemptible } from "../vcluster/lending.ts";
import type { SchedulerKind, Weights } from "../vcluster/vcluster.ts";

export interface CreateTenantCommand {
  readonly kind: "tenant.create";
  readonly origin: Origin;
  readonly tenant: TenantId;
  readonly description: string;
  readonly quota: Quota;
  readonly maxPreemptionClass: number;
}
export interface UpdateTenantCommand {
  readonly kind: "tenant.update";
  readonly origin: Origin;
  readonly tenant: TenantId;
  readonly change: {
    readonly description?: string;
    readonly quota?: Partial<Quota>;
    readonly maxPreemptionClass?: number;
  };
  /** By the tenant's own administrators: never beyond what those of the cluster have set. Absent: by the latter. */
  readonly within?: true;
}
export interface DeleteTenantCommand {
  readonly kind: "tenant.delete";
  readonly origin: Origin;
  readonly tenant: TenantId;
}
export interface DeleteVClusterCommand {
  readonly kind: "vcluster.delete";
  readonly origin: Origin;
  readonly vcluster: VClusterId;
}
/** Of all servers, at once. */
export interface SetConfigCommand {
  readonly kind: "config.set";
  readonly origin: Origin;
  readonly key: string;
  /** JSON, checked by whoever proposes it; null: as each server's own file says. */
  readonly value: string | null;
}
export interface CreateVClusterCommand {
  readonly kind: "vcluster.create";
  readonly origin: Origin;
  readonly vcluster: VClusterId;
  readonly description: string;
  readonly tenant: TenantId | null;
  readonly scheduler: SchedulerKind;
  readonly weights: Weights;
  readonly cycleInterval: Duration;
  readonly backfillDepth: number;
  readonly defaultWalltime: Duration;
  readonly maxWalltime: Duration | null;
  readonly isDefault: boolean;
  readonly preempts?: boolean;
  readonly preemptible?: Preemptible;
  readonly borrows?: boolean;
  readonly lending?: Lending | null;
  readonly sharesNodes?: boolean;
}
export interface UpdateVClusterCommand {
  readonly kind: "vcluster.update";
  readonly origin: Origin;
  readonly vcluster: VClusterId;
  readonly change: {
    readonly description?: string;
    readonly weights?: Partial<Weights>;
    readonly cycleInterval?: Duration;
    readonly backfillDepth?: number;
    readonly defaultWalltime?: Duration;
    readonly maxWalltime?: Duration | null;
    readonly preempts?: boolean;
    readonly preemptible?: Preemptible;
    readonly borrows?: boolean;
    readonly lending?: Lending | null;
    readonly sharesNodes?: boolean;
  };
}
/** A role in a tenant, for a user. */
export interface AddGrantCommand {
  readonly kind: "grant.add";
  readonly origin: Origin;
  readonly tenant: TenantId;
  readonly user: UserName;
  readonly role: GrantRole;
}
export interface RemoveGrantCommand {
  readonly kind: "grant.remove";
  readonly origin: Origin;
  readonly tenant: TenantId;
  readonly user: UserName;
  readonly role: GrantRole;
}
/** Something was done that no other command says, such as opening a terminal. */
export interface RecordAuditCommand {
  readonly kind: "audit.record";
  readonly origin: Origin;
  readonly deed: Deed;
  /** What the caller was told, for when it asks again with the same request id. */
  readonly answer?: string;
}
/** How long finished records and request ids stay in the live state. */
export interface SetRetentionCommand {
  readonly kind: "retention.set";
  readonly maxFinished: number;
  readonly maxFinishedAge: Duration;
}

/** Attempts are charged from here on; proposed once, when every server can do so. */
export interface BeginLedgerCommand {
  readonly kind: "ledger.begin";
}

/** A backup goes into this cluster, which must be empty. `restore` names the backup. */
export interface BeginRestoreCommand {
  readonly kind: "cluster.restore_begin";
  readonly origin: Origin;
  readonly restore: string;
}
/** The next piece of the snapshot's text; the first has n 1. */
export interface RestoreTextCommand {
  readonly kind: "cluster.restore_text";
  readonly restore: string;
  readonly n: number;
  readonly text: string;
}
/** All pieces are there: the restored state takes the place of the empty one. */
export interface CommitRestoreCommand {
  readonly kind: "cluster.restore_commit";
  readonly restore: string;
}
/** Finished records of the backup, for the history of every server. */
export interface RestoreHistoryCommand {
  readonly kind: "cluster.restore_history";
  readonly restore: string;
  readonly records: readonly Allocation[];
  readonly last: boolean;
}
/** Records of the backup's audit log that had left its state, for the archive of every server. */
export interface RestoreAuditCommand {
  readonly kind: "cluster.restore_audit";
  readonly restore: string;
  /** The oldest number that was still kept. */
  readonly floor: number;
  readonly records: readonly AuditRecord[];
}

/** Made by a server for all of them. One that is kept already stands. */
export interface KeepSecretCommand {
  readonly kind: "secret.keep";
  readonly name: SecretName;
  readonly value: string;
}

/** Another takes its place; what it has signed is good for as long as `keep`. */
export interface RotateSecretCommand {
  readonly kind: "secret.rotate";
  readonly origin: Origin;
  readonly name: SecretName;
  readonly value: string;
  /** Zero: neither it nor any before it counts from now on. */
  readonly keep: Duration;
}

/** Somebody must be told. Twice is once, until it is cleared. */
export interface RaiseNoticeCommand {
  readonly kind: "notice.raise";
  readonly notice: Omit<Notice, "at" | "clearedAt">;
}
export interface ClearNoticeCommand {
  readonly kind: "notice.clear";
  readonly key: string;
}
/** Who wants to be told of ends and notices; from configuration. */
export interface SetHooksCommand {
  readonly kind: "hooks.set";
  readonly hooks: readonly Hook[];
}
/** These were taken by their receivers, or given up. */
export interface DeliveredCommand {
  readonly kind: "hooks.delivered";
  readonly keys: readonly string[];
}
