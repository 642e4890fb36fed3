// cluster.found: gives the cluster its identity. The first leader of a new log proposes it; the identity never changes
// afterwards, except by a restore.

import type { Outcome } from "../../base/outcome.ts";
import { accepted, refuseFields, unchanged } from "../../base/outcome.ts";

import { isClusterId } from "../../model/cluster/identity.ts";
import type { Step } from "../../transitions/step.ts";

export interface FoundClusterCommand {
  readonly kind: "cluster.found";
  /** Random, made by the proposing leader. */
  readonly id: string;
}

export function foundCluster({ state }: Step, { id }: FoundClusterCommand): Outcome {
  if (!isClusterId(id)) return refuseFields([{ field: "id", detail: "must have 32 hexadecimal digits" }]);
  if (state.identity !== null) return unchanged(state.identity.id);
  state.tables.identity.set(IDENTITY_KEY, { id, generation: 1, former: [] });
  return accepted(id);
}

/** The key of the only record of its table. */
export const IDENTITY_KEY = "cluster";
