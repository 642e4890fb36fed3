// The specification of the least that can be asked for: one node, one minute, `true`. Tests change what they are about.

import { type AllocationSpec, duration, type TenantId, type VClusterId } from "@lattice/core";

type SpecChange = Partial<Omit<AllocationSpec, "lifecycle">> & {
  readonly lifecycle?: Partial<AllocationSpec["lifecycle"]>;
};

export const plainSpec = ({ lifecycle, ...change }: SpecChange = {}): AllocationSpec => ({
  tenant: "default" as TenantId,
  project: "",
  vcluster: "batch" as VClusterId,
  name: "",
  tags: {},
  intent: "",
  task: { kind: "entrypoint", line: "true" },
  environment: { variables: {}, workdir: "" },
  resources: {
    minNodes: 1,
    maxNodes: 1,
    tasksPerNode: 1,
    constraints: {
      gpuType: "",
      gpuCount: 0,
      memoryBytes: 0,
      cpuCores: 0,
      features: [],
      topology: "any",
      requiredNodes: [],
      excludedNodes: [],
    },
  },
  lifecycle: {
    kind: "bounded",
    walltime: duration(60_000),
    preemptionClass: 5,
    requeuePolicy: "never",
    maxRequeue: 0,
    ...lifecycle,
  },
  slurmEnv: false,
  ...change,
});
