// The least that can be asked for, complete: one node of any kind for a minute, to run `true`. Whoever
// writes specifications without a user's submission, such as a replayed trace, a made-up log or a test,
// says only what is different about its own. Never a default of the API: those are the wire's.

import { duration, type TenantId, type VClusterId } from "../ids.ts";
import type { AllocationSpec, Constraints, Lifecycle, Resources } from "./spec.ts";

/** Every node will do. One value for all, so that those who ask for nothing are seen to be alike at once. */
export const ANYTHING: Constraints = {
  gpuType: "",
  gpuCount: 0,
  memoryBytes: 0,
  cpuCores: 0,
  features: [],
  topology: "any",
  requiredNodes: [],
  excludedNodes: [],
};

export interface SpecDifference extends Partial<Omit<AllocationSpec, "resources" | "lifecycle">> {
  readonly resources?: Partial<Resources>;
  readonly lifecycle?: Partial<Lifecycle>;
}

export const plainSpec = ({ resources, lifecycle, ...rest }: SpecDifference = {}): AllocationSpec => ({
  tenant: "default" as TenantId,
  project: "",
  vcluster: "batch" as VClusterId,
  name: "",
  tags: {},
  intent: "",
  task: { kind: "entrypoint", line: "true" },
  environment: { variables: {}, workdir: "" },
  resources: { minNodes: 1, maxNodes: 1, tasksPerNode: 1, constraints: ANYTHING, ...resources },
  lifecycle: {
    kind: "bounded",
    walltime: duration(60_000),
    preemptionClass: 5,
    requeuePolicy: "never",
    maxRequeue: 0,
    ...lifecycle,
  },
  slurmEnv: false,
  ...rest,
});
