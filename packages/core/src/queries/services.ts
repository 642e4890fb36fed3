// The service registry: which ports of which nodes serve which name. It is not stored but derived from the allocations,
// so that an endpoint is registered if and only if its allocation runs on that node: a node that was just added and has
// not started has no endpoint.

import type { AllocationId, NodeId, TenantId } from "../base/ids.ts";
import { DEFAULT_PORT_NAME } from "../model/spec/spec.ts";
import type { View } from "../state/view.ts";

export interface ServiceEndpoint {
  readonly name: string;
  readonly tenant: TenantId;
  readonly allocation: AllocationId;
  readonly node: NodeId;
  readonly address: string;
  readonly port: number;
  /** Missing when the spec names no protocol. */
  readonly protocol?: string;
}

/** Returns endpoints in order of allocation, node and port. A port without a name has the allocation's. */
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
