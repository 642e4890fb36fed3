// Events: changes of the state that watchers may follow. Each kind has exactly its own fields; the types of the others are
// `never`, so that a reader may ask any event for any field.

import type { AllocationId, Attempt, DagId, NodeId, TenantId, UserName, VClusterId } from "../../base/ids.ts";

interface EventFields {
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
  readonly node: NodeId;
  readonly dag: DagId;
  readonly tenant: TenantId;
  readonly vcluster: VClusterId;
  readonly user: UserName;
  readonly from: string;
  readonly to: string;
  readonly reason: string;
  readonly message: string;
}

/** An event with the fields `Has`, and `May` where they apply. */
type EventOf<Kind extends string, Has extends keyof EventFields, May extends keyof EventFields = never> = {
  readonly kind: Kind;
} & Pick<EventFields, Has> &
  Partial<Pick<EventFields, May>> & { readonly [Field in Exclude<keyof EventFields, Has | May>]?: never };

type AllocationFields = "allocation" | "attempt" | "tenant" | "vcluster";

/** An allocation or a task group entered another phase, or its record changed. `node` for a change of its size. */
export type AllocationChanged = EventOf<
  "allocation_changed",
  AllocationFields | "user" | "from" | "to" | "reason" | "message",
  "node"
>;
export type NodeChanged = EventOf<"node_changed", "node" | "from" | "to" | "reason" | "message">;
type ClaimReleased = EventOf<"claim_released", AllocationFields | "node">;
type TenantChanged = EventOf<"tenant_changed", "tenant" | "to", "from" | "reason" | "user">;
type VClusterChanged = EventOf<"vcluster_changed", "vcluster", "from" | "to" | "reason" | "user">;
type ConfigChanged = EventOf<"config_changed", "to" | "user" | "reason" | "message">;
type PlacementRefused = EventOf<
  "placement_refused",
  "allocation" | "vcluster" | "reason" | "message",
  "attempt" | "tenant" | "user"
>;
/** `reason` names the backup. */
type ClusterRestored = EventOf<"cluster_restored", "reason">;
type DagChanged = EventOf<"dag_changed", "dag" | "tenant" | "user" | "from" | "to" | "reason">;
/** `reason` is the kind of the notice, `to` whether it was raised or cleared. */
type NoticeChanged = EventOf<"notice_changed", "to" | "reason" | "message", "tenant" | "user" | "allocation" | "node">;
type DeliveryDropped = EventOf<"delivery_dropped", "reason" | "message">;
/** A checkpoint is complete, failed, or was left behind: see `reason`. `to` is the cause of the request. */
export type CheckpointEvent = EventOf<
  "checkpoint",
  "allocation" | "reason" | "message",
  "attempt" | "tenant" | "vcluster" | "user" | "to"
>;

/** A change that watchers may follow. The replica adds the cursor (index, n). */
export type Event =
  | AllocationChanged
  | NodeChanged
  | ClaimReleased
  | TenantChanged
  | VClusterChanged
  | ConfigChanged
  | PlacementRefused
  | ClusterRestored
  | DagChanged
  | NoticeChanged
  | DeliveryDropped
  | CheckpointEvent;
