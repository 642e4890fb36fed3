// Between the lifecycle's plain values and the messages on the wire.

import { create } from "@bufbuild/protobuf";
import { PROTOCOL } from "@lattice/core";
import { insideToProto, outputFromProto, pb } from "@lattice/wire";
import type { Hardware } from "../discovery/hardware.ts";
import type { Attempt, CheckpointPlan, Mount, Order, Probe, Share, Software } from "../lifecycle/attempt.ts";
import type { PendingReport } from "./reports.ts";

/** `arrivedAtMs` grows from order to order. */
export function orderOf(order: pb.RunOrder, arrivedAtMs: number): Order {
  return {
    allocationId: order.allocationId,
    attempt: order.attempt,
    name: order.name,
    tenant: order.tenant,
    project: order.project,
    user: order.user,
    vcluster: order.vcluster,
    entrypoint: order.entrypoint,
    command: order.command,
    script: order.script,
    variables: order.variables,
    workdir: order.workdir,
    walltimeSeconds: order.walltimeSeconds,
    graceSeconds: order.graceSeconds,
    nodes: order.nodes,
    nodeIndex: order.nodeIndex,
    tasksPerNode: order.tasksPerNode,
    slurmEnv: order.slurmEnv,
    apiToken: order.apiToken,
    probe: probeOf(order.livenessProbe),
    // A part of a node is stated with its limits.
    exclusive: order.limits === undefined,
    arrivedAtMs,
    ...askedFor(order),
  };
}

/** Absent where nothing was asked for. */
function askedFor(order: pb.RunOrder): Partial<Order> {
  const { environment, mounts, limits, memoryPolicy, measured, network, checkpoint } = order;
  const { data, output, cxlMemory } = order;
  return {
    ...(environment === undefined ? null : { software: softwareOf(environment) }),
    ...(mounts.length === 0 ? null : { mounts: mounts.map(mountOf) }),
    ...(limits === undefined ? null : { share: shareOf(limits) }),
    ...(memoryPolicy === "" ? null : { memoryPolicy }),
    ...(measured ? { measured } : null),
    ...(cxlMemory ? { cxlMemory } : null),
    ...(network === undefined ? null : { network: networkOf(network) }),
    ...(checkpoint === undefined ? null : { checkpoint: planOf(checkpoint) }),
    ...(data === undefined ? null : { data: foldersOf(data) }),
    ...outputFromProto(output),
  };
}

const networkOf = ({ domain, vni, sensitive, dataGateway, exposed }: pb.RunNetwork): NonNullable<Order["network"]> => ({
  ...{ domain, vni },
  ...(sensitive ? { sensitive } : null),
  ...(dataGateway === "" ? null : { gateway: dataGateway }),
  ...(exposed.length === 0 ? null : { exposed }),
});

const planOf = ({ mode, port, resumeFrom }: pb.CheckpointPlan): CheckpointPlan => ({ mode, port, resumeFrom });

const mountOf = ({ source, target, access, credentials }: pb.Mount): Mount => ({
  ...{ source, target, access },
  ...(credentials === "" ? null : { credentials }),
});

const foldersOf = ({ output, scratchBytes, defaults }: pb.RunData): NonNullable<Order["data"]> => ({
  ...{ output, scratchBytes, defaults },
});

const softwareOf = ({ uenv, view, toolsUenv, image, readOnly, signRequired }: pb.RunEnvironment): Software => ({
  ...{ uenv, view, toolsUenv, image, readOnly, signRequired },
});

const BYTES_PER_GB = 1024 ** 3;

const shareOf = ({ cpuCores, memoryGb, gpuCount }: pb.RunLimits): Share => ({
  cpuCores,
  memoryBytes: Math.floor(memoryGb * BYTES_PER_GB),
  gpuCount,
});

/** The server has filled in what the submission did not say. */
function probeOf(probe: pb.LivenessProbe | undefined): Probe | null {
  if (probe === undefined) return null;
  return {
    kind: probe.probeType === "http" ? "http" : "tcp",
    port: probe.port,
    path: probe.path,
    periodMs: probe.periodSecs * 1000,
    initialDelayMs: probe.initialDelaySecs * 1000,
    failureThreshold: probe.failureThreshold,
    timeoutMs: probe.timeoutSecs * 1000,
  };
}

export function reportMessage({ number, allocationId, attempt, body }: PendingReport): pb.Report {
  const { checkpoint = null } = body;
  const word = checkpoint === null ? null : { checkpoint: create(pb.CheckpointResultSchema, checkpoint) };
  const name = { number, allocationId, attempt, ...word };
  if (body.kind === "running") {
    return create(pb.ReportSchema, { ...name, state: pb.AllocationState.RUNNING, atMs: body.atMs });
  }
  const { end } = body;
  const ended = { ...name, message: end.message, atMs: end.atMs };
  if (end.kind === "completed") {
    return create(pb.ReportSchema, { ...ended, state: pb.AllocationState.COMPLETED, exitCode: end.exitCode });
  }
  return create(pb.ReportSchema, {
    ...ended,
    state: pb.AllocationState.FAILED,
    reason: end.reason,
    stage: end.stage ?? "",
    ...(end.exitCode === null ? {} : { exitCode: end.exitCode }),
  });
}

export function measuresMessage(key: string, values: Readonly<Record<string, number>>): pb.AttemptMeasures {
  const [allocationId = "", number] = key.split(".");
  return create(pb.AttemptMeasuresSchema, { allocationId, attempt: Number(number), values });
}

/** Every attempt that is not archived. */
export function heldIn(attempts: ReadonlyMap<string, Attempt>): pb.AttemptStatus[] {
  const all: pb.AttemptStatus[] = [];
  for (const [key, attempt] of attempts) if (attempt.kind !== "archived") all.push(attemptStatus(key, attempt));
  return all;
}

function attemptStatus(key: string, attempt: Attempt): pb.AttemptStatus {
  const [allocationId = "", number] = key.split(".");
  return create(pb.AttemptStatusSchema, { allocationId, attempt: Number(number), state: stateOf(attempt) });
}

function stateOf(attempt: Attempt): pb.AllocationState {
  switch (attempt.kind) {
    case "waiting":
    case "starting":
      return pb.AllocationState.STAGING;
    case "running":
    case "stopping":
    case "clearing":
      return pb.AllocationState.RUNNING;
    case "ended":
    case "archived":
      return attempt.end.kind === "completed" ? pb.AllocationState.COMPLETED : pb.AllocationState.FAILED;
  }
}

export interface NodeFacts {
  readonly nodeId: string;
  readonly group: string;
  readonly homeVcluster: string;
  /** Where other agents reach it; absent: nowhere. */
  readonly peerAddress?: string;
  readonly conformance: string;
  readonly hardware: Hardware;
  readonly version: string;
  readonly bootId: string;
  readonly isolation: string;
  readonly hollow: boolean;
  /** What it can run attempts in, and limit them by. */
  readonly runtimes?: readonly string[];
}

/** What a node says of itself in every Hello. */
export type Identity = Omit<pb.Hello, "$typeName" | "$unknown" | "attempts">;

export function identityOf({ hardware, version, isolation, hollow, runtimes = [], ...facts }: NodeFacts): Identity {
  const { features, gpuTopology: _gpus, memoryTopology: _memory, ...measures } = hardware;
  const { gpuTopology, memoryTopology } = insideToProto(hardware);
  return {
    peerAddress: "",
    ...facts,
    protocolVersion: PROTOCOL.newest,
    agentVersion: version,
    address: hardware.hostname,
    capabilities: create(pb.CapabilitiesSchema, {
      ...measures,
      memoryGb: hundredths(hardware.memoryGb),
      features: [...features],
      ...(gpuTopology === undefined ? null : { gpuTopology }),
      ...(memoryTopology === undefined ? null : { memoryTopology }),
      isolation,
      hollow,
      runtimes: [...runtimes],
    }),
  };
}

/** What floating point may be short of a whole hundredth that was meant. */
const SLACK = 1e-6;

/** Rounded down to two decimals: a node never promises memory that it does not have. */
export const hundredths = (amount: number): number => Math.floor(amount * 100 + SLACK) / 100;
