// What is sensitive: nodes at home in a vCluster for sensitive work, and the work of such a vCluster.

import type { AllocationSpec } from "../allocation/spec.ts";
import type { Node } from "../node/node.ts";
import type { View } from "../state/view.ts";
import { policyOf } from "./policy.ts";

export const isSensitiveHome = (view: Pick<View, "vcluster">, { homeVCluster }: Pick<Node, "homeVCluster">): boolean =>
  homeVCluster !== null && isSensitive(view, homeVCluster);

export function isSensitive(view: Pick<View, "vcluster">, id: AllocationSpec["vcluster"]): boolean {
  const vcluster = view.vcluster(id);
  return vcluster !== undefined && policyOf(vcluster).sensitive;
}
