// The audit record of one action, besides its user and time.

import type { AllocationId, NodeId, TenantId } from "../../base/ids.ts";
import type { AuditScope } from "./record.ts";

export interface AuditAction {
  readonly scope: AuditScope;
  readonly detail: string;
  readonly action?: string;
  readonly tenant?: TenantId;
  readonly allocation?: AllocationId;
  readonly node?: NodeId;
  readonly dataPath?: string;
}
