// Decides what is sensitive: nodes at home in a vCluster for sensitive work, and the work of such a vCluster.

import type { Node } from "../model/node/node.ts";
import type { AllocationSpec } from "../model/spec/spec.ts";
import { policyOf } from "../model/vcluster/policy.ts";
import type { View } from "../state/view.ts";

export const isSensitiveHome = (view: Pick<View, "vcluster">, { homeVCluster }: Pick<Node, "homeVCluster">): boolean =>
  homeVCluster !== null && isSensitive(view, homeVCluster);

export function isSensitive(view: Pick<View, "vcluster">, id: AllocationSpec["vcluster"]): boolean {
  const vcluster = view.vcluster(id);
  return vcluster !== undefined && policyOf(vcluster).sensitive;
}
