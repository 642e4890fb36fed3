// Builds orders as messages. A run order is derived from the allocation's record alone, so that a repetition after a
// reconnect or a change of leader is the same order.

import { create } from "@bufbuild/protobuf";
import {
  type Allocation,
  type AllocationId,
  type AllocationSpec,
  type Attempt,
  attemptOn,
  type Claim,
  type Duration,
  isPlaced,
  mayUseFabric,
  type NodeId,
  type OwnNetwork,
  type PlacedPhase,
  type Share,
  specToRun,
  type Task,
  type View,
} from "@lattice/core";
import { outputToProto, pb, probeToProto } from "@lattice/wire";
import { checkpointPlan } from "./checkpoint-order.ts";
import type { ServerMessageBody } from "./hub.ts";

/** Default time between SIGTERM and SIGKILL. */
const GRACE_SECONDS = 30;

function runOrder(allocation: Allocation, node: NodeId): ServerMessageBody | null {
  if (!isPlaced(allocation.phase)) return null;
  const phase: PlacedPhase = allocation.phase;
  const spec = specToRun(allocation);
  return {
    case: "run",
    value: create(pb.RunOrderSchema, {
      allocationId: allocation.id,
      attempt: attemptOn(allocation, node),
      name: spec.name,
      tenant: spec.tenant,
      project: spec.project,
      ...(spec.probe === undefined ? {} : { livenessProbe: probeToProto(spec.probe) }),
      user: allocation.user,
      vcluster: spec.vcluster,
      ...taskFields(spec.task),
      variables: { ...spec.environment.variables },
      workdir: spec.environment.workdir,
      walltimeSeconds: spec.lifecycle.walltime === null ? 0 : Math.ceil(spec.lifecycle.walltime / 1000),
      graceSeconds: GRACE_SECONDS,
      nodes: [...phase.nodes],
      nodeIndex: phase.nodes.indexOf(node),
      tasksPerNode: spec.resources.tasksPerNode,
      slurmEnv: spec.slurmEnv,
      memoryPolicy: spec.resources.constraints.memoryPolicy ?? "",
      cxlMemory: spec.resources.constraints.allowCxlMemory === true,
      ...(allocation.network === undefined ? null : { network: networkOf(allocation.network, spec) }),
      measured: spec.lifecycle.kind === "reactive",
      ...softwareFields(spec),
      ...checkpointPlan(allocation),
      ...outputToProto(spec),
      ...(allocation.share === undefined ? null : { limits: limitsOf(allocation.share) }),
    }),
  };
}

/** The attempt to stop, with its own grace if it has one. */
interface StopTarget {
  readonly allocation: AllocationId;
  readonly attempt: Attempt;
  readonly grace?: Duration;
}

export const stopOrder = ({ allocation, attempt, grace }: StopTarget, reason: string): ServerMessageBody => ({
  case: "stop",
  value: create(pb.StopOrderSchema, {
    allocationId: allocation,
    attempt,
    graceSeconds: grace === undefined ? GRACE_SECONDS : Math.ceil(grace / 1000),
    reason,
  }),
});

/** Ends an attempt that waits behind others; one that has started continues. */
export const recallOrder = ({ allocation, attempt }: StopTarget): ServerMessageBody => ({
  case: "stop",
  value: create(pb.StopOrderSchema, {
    allocationId: allocation,
    attempt,
    reason: "its turn did not come",
    ifWaiting: true,
  }),
});

export const forgetOrder = (allocation: AllocationId, attempt: Attempt): ServerMessageBody => ({
  case: "forget",
  value: create(pb.ForgetOrderSchema, { allocationId: allocation, attempt }),
});

/** Returns the order that a claim requires; `null` when the node has finished its part. */
export function orderOf(view: View, node: NodeId, claim: Claim): ServerMessageBody | null {
  if (claim.releasing) return stopOrder(claim, "the attempt is over");
  const allocation = view.allocation(claim.allocation);
  if (allocation === undefined || attemptOn(allocation, node) !== claim.attempt) {
    return stopOrder(claim, "the attempt is over");
  }
  // The attempt waits for its other nodes. An agent that lost its state would run it a second time.
  if (isPlaced(allocation.phase) && hasEndedOn(allocation.phase, node)) return null;
  return runOrderIfReady(view, allocation, node);
}

/** Returns `null` until the fabric is ready for the node, and when the allocation is not placed. */
export function runOrderIfReady(view: View, allocation: Allocation, node: NodeId): ServerMessageBody | null {
  return mayUseFabric(view, allocation, node) ? runOrder(allocation, node) : null;
}

function hasEndedOn(phase: PlacedPhase, node: NodeId): boolean {
  const state = phase.progress[phase.nodes.indexOf(node)]?.state;
  return state === "completed" || state === "failed";
}

function networkOf(network: OwnNetwork, { expose = [] }: AllocationSpec): pb.RunNetwork {
  const { domain, vni, gateway = "" } = network;
  const sensitive = network.sensitive === true;
  // A sensitive domain exposes no ports.
  const exposed = sensitive ? [] : expose.map(({ port }) => port);
  return create(pb.RunNetworkSchema, { domain, vni, sensitive, dataGateway: gateway, exposed });
}

const BYTES_PER_GB = 1024 ** 3;

const limitsOf = ({ cpuCores, memoryBytes, gpuCount }: Share): pb.RunLimits =>
  create(pb.RunLimitsSchema, { cpuCores, memoryGb: memoryBytes / BYTES_PER_GB, gpuCount });

/** Empty when nothing is requested. */
function softwareFields({ environment, mounts = [], data }: AllocationSpec): {
  environment?: pb.RunEnvironment;
  mounts?: pb.Mount[];
  data?: pb.RunData;
} {
  const { uenv = "", view = "", toolsUenv = "", image = "", readOnly = false, signRequired = false } = environment;
  const isRequested = uenv !== "" || toolsUenv !== "" || image !== "";
  return {
    ...(isRequested
      ? {
          environment: create(pb.RunEnvironmentSchema, { uenv, view, toolsUenv, image, readOnly, signRequired }),
        }
      : null),
    ...(mounts.length === 0 ? null : { mounts: mounts.map((mount) => create(pb.MountSchema, mount)) }),
    ...(data === undefined ? null : { data: create(pb.RunDataSchema, data) }),
  };
}

function taskFields(task: Task): { entrypoint?: string; command?: string[]; script?: string } {
  if (task.kind === "entrypoint") return { entrypoint: task.line };
  if (task.kind === "command") return { command: [...task.words] };
  return { script: task.text };
}
