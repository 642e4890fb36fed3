// Converts a spec to the full form of the contract, with every default filled in.

import { create } from "@bufbuild/protobuf";
import type { AllocationSpec, GroupShape, Task } from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/allocations_pb.ts";
import {
  AllocationSpecSchema,
  EnvironmentSchema,
  LifecycleSchema,
  LifecycleType,
  NodeCountSchema,
  RequeuePolicy,
  ResourcesSchema,
} from "../../gen/lattice/v1/allocations_pb.ts";
import { checkpointToProto } from "./checkpoint.ts";
import { constraintsToProto } from "./constraints.ts";
import { dataToProto } from "./data.ts";
import { dependencyToProto } from "./dependencies.ts";
import { shapeToProto } from "./group-shape.ts";
import { outputToProto } from "./output-files.ts";
import { scaleToProto } from "./scaling.ts";
import { serviceToProto } from "./service.ts";
import { telemetryToProto } from "./telemetry.ts";

/** For a task group, includes the shape of the group. */
export function specToProto(spec: AllocationSpec, shape?: GroupShape): proto.AllocationSpec {
  const { resources, lifecycle } = spec;
  const data = dataToProto(spec);
  return create(AllocationSpecSchema, {
    tenant: spec.tenant,
    project: spec.project,
    vcluster: spec.vcluster,
    name: spec.name,
    tags: spec.tags,
    intent: spec.intent,
    slurmEnv: spec.slurmEnv,
    dependsOn: (spec.dependsOn ?? []).map(dependencyToProto),
    ...(shape === undefined ? null : { taskGroup: shapeToProto(shape) }),
    ...serviceToProto(spec),
    ...telemetryToProto(spec),
    ...outputToProto(spec),
    ...(spec.checkpoint === undefined ? null : { checkpoint: checkpointToProto(spec.checkpoint) }),
    ...taskToProto(spec.task),
    environment: create(EnvironmentSchema, {
      variables: spec.environment.variables,
      workdir: spec.environment.workdir,
      uenv: spec.environment.uenv ?? "",
      view: spec.environment.view ?? "",
      toolsUenv: spec.environment.toolsUenv ?? "",
      image: spec.environment.image ?? "",
      readOnly: spec.environment.readOnly ?? false,
      signRequired: spec.environment.signRequired ?? false,
    }),
    ...(data === undefined ? null : { data }),
    resources: create(ResourcesSchema, {
      nodes: create(NodeCountSchema, { min: resources.minNodes, max: resources.maxNodes }),
      tasksPerNode: resources.tasksPerNode,
      exclusive: resources.exclusive ?? false,
      constraints: constraintsToProto(resources.constraints),
    }),
    lifecycle: create(LifecycleSchema, {
      type: KINDS[lifecycle.kind],
      walltimeSeconds: lifecycle.walltime === null ? 0 : Math.ceil(lifecycle.walltime / 1000),
      preemptionClass: lifecycle.preemptionClass,
      requeuePolicy: POLICIES[lifecycle.requeuePolicy],
      maxRequeue: lifecycle.maxRequeue,
      noPreempt: lifecycle.noPreempt ?? false,
      ...(lifecycle.scale === undefined ? null : { scalePolicy: scaleToProto(lifecycle.scale) }),
    }),
  });
}

const KINDS = {
  bounded: LifecycleType.BOUNDED,
  unbounded: LifecycleType.UNBOUNDED,
  reactive: LifecycleType.REACTIVE,
} as const;

const POLICIES = {
  never: RequeuePolicy.NEVER,
  on_node_failure: RequeuePolicy.ON_NODE_FAILURE,
  always: RequeuePolicy.ALWAYS,
} as const;

function taskToProto(task: Task): { entrypoint?: string; command?: string[]; script?: string } {
  switch (task.kind) {
    case "entrypoint":
      return { entrypoint: task.line };
    case "command":
      return { command: [...task.words] };
    case "script":
      return { script: task.text };
  }
}
