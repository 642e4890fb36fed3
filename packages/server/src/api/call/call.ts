// The context of a handler besides the request: the caller, the control plane, and the signal that ends with the
// caller. Handlers are independent of REST and gRPC.

import type { TenantId } from "@lattice/core";
import type { Principal } from "../../base/auth/principal.ts";
import type { Config } from "../../base/config/index.ts";
import type { ControlPlane } from "./control-plane.ts";

export interface Call {
  readonly plane: ControlPlane;
  readonly principal: Principal;
  /** Aborts when the caller disconnects, the server stops, or the token expires; the reason is then the problem. */
  readonly signal: AbortSignal;
  readonly config: Config;
  /** Returns the tenant of the header x-lattice-tenant, or `null` without the header. Throws for an invalid name. */
  readonly statedTenant?: () => TenantId | null;
  /** Warnings from parsing the request, for the answer. */
  readonly warnings: readonly string[];
}
