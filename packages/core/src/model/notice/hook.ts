// Webhooks, as far as `apply` must know them: which hook receives which events. Their URLs and the secret that signs
// deliveries stay in the configuration of the servers and never enter the log.

import type { AllocationId, Instant, TenantId, UserName } from "../../base/ids.ts";
import type { Allocation } from "../allocation/allocation.ts";
import type { Notice } from "./notice.ts";

type EndState = "completed" | "failed" | "cancelled";

export const MAX_HOOKS = 32;
export const MAX_HOOK_NAME_LENGTH = 63;

export interface Hook {
  readonly name: string;
  /** `null` for all tenants. */
  readonly tenant: TenantId | null;
  readonly states: readonly EndState[];
  /** Notices as well. */
  readonly notices: boolean;
}

/** A delivery that is not confirmed yet. */
export interface Delivery {
  /** Unique and equal for every delivery attempt: "pager/12345/failed". */
  readonly key: string;
  readonly hook: string;
  readonly at: Instant;
  readonly about: EndOfWork | { readonly kind: "notice"; readonly notice: Notice };
}

export interface EndOfWork {
  readonly kind: "allocation";
  readonly id: AllocationId;
  readonly name: string;
  readonly tenant: TenantId;
  readonly user: UserName;
  readonly state: EndState;
  readonly reason: string;
  readonly message: string;
  readonly exitCode: number | null;
  readonly submittedAt: Instant;
  readonly startedAt: Instant | null;
  readonly endedAt: Instant;
  readonly nodes: number;
  readonly tags: Allocation["spec"]["tags"];
}
