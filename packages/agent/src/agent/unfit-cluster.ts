// Decides whether this agent may serve a cluster. An agent that runs jobs under the accounts of its node depends on the
// servers for who submitted them: where nobody authenticates, every caller would be any user of the node.

import type { pb } from "@lattice/wire";
import type { SoftwareOptions } from "../options/software.ts";

/** Returns the reason against it, or null. */
export function unfitCluster(
  { userMapping, allowUnauthenticated }: Pick<SoftwareOptions, "userMapping" | "allowUnauthenticated">,
  { callersAuthenticated }: Pick<pb.Welcome, "callersAuthenticated">,
): string | null {
  if (userMapping.kind === "none" || callersAuthenticated || allowUnauthenticated) return null;
  return (
    "the cluster does not authenticate its users, and this agent runs jobs under the accounts of this node: every " +
    "caller could run jobs as any user. Set api.oidc_issuer on the servers, run jobs as the agent's own user with " +
    "--user-mapping=none, or accept it with --allow-unauthenticated"
  );
}
