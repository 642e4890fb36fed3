// What a handler is given besides the request: who calls, the door to the control plane, and the
// signal that ends with the caller. Handlers know nothing of REST or gRPC.

import type { TenantId } from "@lattice/core";
import type { Principal } from "../base/auth/principal.ts";
import type { Config } from "../base/config/index.ts";
import type { ControlPlane } from "./control-plane.ts";

export interface Call {
  readonly plane: ControlPlane;
  readonly principal: Principal;
  /** Aborts when the caller goes away, the server stops, or the caller's token has ended, which is then the reason. */
  readonly signal: AbortSignal;
  readonly config: Config;
  /** The tenant whose things the caller means by its header; null: it does not say. Throws when that is no tenant's name. */
  readonly statedTenant?: () => TenantId | null;
  /** What was noticed while the request was read, for the answer. */
  readonly warnings: readonly string[];
}
