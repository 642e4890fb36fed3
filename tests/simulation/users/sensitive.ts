// Users whose work is sensitive: two of them, on two nodes that an administrator gives to their vCluster while others work
// beside it. What they run is never run again by itself.

import {
  type AllocationSpec,
  type Command,
  duration,
  type NodeId,
  type UserName,
  type VClusterId,
  WEIGHT_PROFILES,
} from "@lattice/core";
import type { Crew, Desk } from "./crew.ts";
import { originOf, specOf } from "./requests.ts";

const SEALED = "sealed" as VClusterId;
const NODES = ["n05", "n13"] as const;
const USERS = ["alice", "bob"] as const;
const SUBMIT_MS = 30_000;
/** A node is given away only when nobody is on it: asked again until it is. */
const ASSIGN_MS = 10_000;

export function sensitiveUsers({ client, random, requestId, every, acknowledged }: Desk): Crew {
  const counts = { sensitive: 0 };
  const missing = new Set<string>(NODES);

  async function assign(): Promise<void> {
    for (const node of missing) {
      const origin = originOf(requestId("assign"));
      const outcome = await client.ask({ kind: "node.assign", origin, node: node as NodeId, vcluster: SEALED });
      if (outcome?.kind === "accepted") missing.delete(node);
    }
  }

  async function submit(): Promise<void> {
    const name = requestId("sealed");
    const origin = { ...originOf(name), user: random.pick(USERS) as string as UserName };
    const spec = sealedSpec(specOf(random, name), random.pick([15_000, 30_000, 60_000]));
    const outcome = await client.ask({ kind: "allocation.submit", origin, spec, createTenant: true });
    if (outcome?.kind === "accepted") counts.sensitive += 1;
    acknowledged(outcome, name, spec.tenant);
  }

  return {
    counts,
    begin() {
      void client.ask(creation());
      every(ASSIGN_MS, assign);
      every(SUBMIT_MS, submit);
    },
    tidyUp: () => undefined,
  };
}

function sealedSpec(spec: AllocationSpec, walltimeMs: number): AllocationSpec {
  const { checkpoint: _, ...rest } = spec;
  return {
    ...rest,
    tenant: "default" as AllocationSpec["tenant"],
    vcluster: SEALED,
    resources: { ...spec.resources, minNodes: 1, maxNodes: 1 },
    lifecycle: { ...spec.lifecycle, kind: "bounded", walltime: duration(walltimeMs), requeuePolicy: "never" },
  };
}

const creation = (): Command => ({
  kind: "vcluster.create",
  origin: originOf("sealed"),
  vcluster: SEALED,
  description: "",
  tenant: null,
  scheduler: "sensitive_reservation",
  weights: WEIGHT_PROFILES.sensitive_reservation,
  cycleInterval: duration(15_000),
  backfillDepth: 10,
  defaultWalltime: duration(60_000),
  maxWalltime: null,
  isDefault: false,
});
