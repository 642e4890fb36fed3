// What is written down about one action, besides who did it and when.

import type { AllocationId, NodeId, TenantId } from "../ids.ts";
import type { AuditScope } from "./record.ts";

export interface Deed {
  readonly scope: AuditScope;
  readonly detail: string;
  readonly action?: string;
  readonly tenant?: TenantId;
  readonly allocation?: AllocationId;
  readonly node?: NodeId;
  readonly dataPath?: string;
}
