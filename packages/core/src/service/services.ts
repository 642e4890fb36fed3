// The service registry: which ports of which nodes serve which name. It is not kept but read off the
// allocations, so that an endpoint is registered if and only if its allocation runs, and runs there: a node that was just added, and has
// not begun, serves nobody.

import { DEFAULT_PORT_NAME } from "../allocation/spec.ts";
import type { AllocationId, NodeId, TenantId } from "../ids.ts";
import type { View } from "../state/view.ts";

export interface ServiceEndpoint {
  readonly name: string;
  readonly tenant: TenantId;
  readonly allocation: AllocationId;
  readonly node: NodeId;
  readonly address: string;
  readonly port: number;
  /** Absent: not said. */
  readonly protocol?: string;
}

/** In order of allocation, node and port. A port without a name has the allocation's. */
export function* serviceEndpoints(view: View): Generator<ServiceEndpoint> {
  for (const { id, spec, phase } of view.placed()) {
    if ((phase.kind !== "running" && phase.kind !== "checkpointing") || spec.expose === undefined) continue;
    for (const [i, node] of phase.nodes.entries()) {
      if (phase.progress[i]?.state !== "running") continue;
      for (const { name, port, protocol } of spec.expose)
        yield {
          name: name || spec.name || DEFAULT_PORT_NAME,
          tenant: spec.tenant,
          allocation: id,
          node,
          address: view.node(node)?.address ?? "",
          port,
          ...(protocol === undefined ? {} : { protocol }),
        };
    }
  }
}
