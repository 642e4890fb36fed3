// The smallest complete spec: one node of any kind for a minute, running `true`. Code that creates specs without a
// submission, such as a replayed trace or a test, overrides only what differs. API defaults are in `wire`.

import { DEFAULT_TENANT, DEFAULT_VCLUSTER, duration } from "../../base/ids.ts";
import type { AllocationSpec, Constraints, Lifecycle, Resources } from "./spec.ts";

/** No constraint on nodes. One shared value, so that equal requests are found equal by reference. */
export const NO_CONSTRAINTS: Constraints = {
  gpuType: "",
  gpuCount: 0,
  memoryBytes: 0,
  cpuCores: 0,
  features: [],
  topology: "any",
  requiredNodes: [],
  excludedNodes: [],
};

interface SpecDifference extends Partial<Omit<AllocationSpec, "resources" | "lifecycle">> {
  readonly resources?: Partial<Resources>;
  readonly lifecycle?: Partial<Lifecycle>;
}

export const minimalSpec = ({ resources, lifecycle, ...rest }: SpecDifference = {}): AllocationSpec => ({
  tenant: DEFAULT_TENANT,
  project: "",
  vcluster: DEFAULT_VCLUSTER,
  name: "",
  tags: {},
  intent: "",
  task: { kind: "entrypoint", line: "true" },
  environment: { variables: {}, workdir: "" },
  resources: { minNodes: 1, maxNodes: 1, tasksPerNode: 1, constraints: NO_CONSTRAINTS, ...resources },
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
