// Converts the lifecycle's values to messages of the wire.

import { create } from "@bufbuild/protobuf";
import { PROTOCOL } from "@lattice/core";
import { insideToProto, pb, usageToProto } from "@lattice/wire";
import type { NodeHardware } from "../discovery/hardware.ts";
import type { AttemptState } from "../lifecycle/attempt.ts";
import type { PendingReport } from "./reports.ts";

/** States the age of the event instead of its time, because the clock of the node may differ from the server's. */
export function reportMessage({ number, allocationId, attempt, body }: PendingReport, nowMs: number): pb.Report {
  const { checkpoint = null } = body;
  const word = checkpoint === null ? null : { checkpoint: create(pb.CheckpointResultSchema, checkpoint) };
  const name = { number, allocationId, attempt, ...word };
  if (body.kind === "running") {
    const ageMs = Math.max(0, nowMs - body.atMs);
    return create(pb.ReportSchema, { ...name, state: pb.AllocationState.RUNNING, ageMs });
  }
  const { end } = body;
  const used = body.used == null ? null : { used: usageToProto(body.used) };
  const started = body.startedAtMs === undefined ? null : { startedAgeMs: Math.max(0, nowMs - body.startedAtMs) };
  const ended = { ...name, ...used, ...started, message: end.message, ageMs: Math.max(0, nowMs - end.atMs) };
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
export function attemptStatuses(attempts: ReadonlyMap<string, AttemptState>): pb.AttemptStatus[] {
  const all: pb.AttemptStatus[] = [];
  for (const [key, attempt] of attempts) if (attempt.kind !== "archived") all.push(attemptStatus(key, attempt));
  return all;
}

function attemptStatus(key: string, attempt: AttemptState): pb.AttemptStatus {
  const [allocationId = "", number] = key.split(".");
  return create(pb.AttemptStatusSchema, { allocationId, attempt: Number(number), state: stateOf(attempt) });
}

function stateOf(attempt: AttemptState): pb.AllocationState {
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

interface NodeFacts {
  readonly nodeId: string;
  readonly group: string;
  readonly homeVcluster: string;
  /** Address for other agents. Default: none. */
  readonly peerAddress?: string;
  /** Default: none. */
  readonly overlayAddresses?: string[];
  readonly conformance: string;
  readonly hardware: NodeHardware;
  readonly version: string;
  readonly bootId: string;
  readonly isolation: string;
  readonly hollow: boolean;
  /** Runtimes and limits that it supports. */
  readonly runtimes?: readonly string[];
}

/** The part of every Hello that describes the node. */
export type NodeIdentity = Omit<
  pb.Hello,
  "$typeName" | "$unknown" | "attempts" | "clusterId" | "clusterGeneration" | "knownLog"
>;

export function identityOf({ hardware, version, isolation, hollow, runtimes = [], ...facts }: NodeFacts): NodeIdentity {
  const { features, gpuTopology: _gpus, memoryTopology: _memory, ...measures } = hardware;
  const { gpuTopology, memoryTopology } = insideToProto(hardware);
  return {
    peerAddress: "",
    overlayAddresses: [],
    ...facts,
    protocolVersion: PROTOCOL.newest,
    agentVersion: version,
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

/** Tolerance for floating-point error below a whole hundredth. */
const SLACK = 1e-6;

/** Rounds down to two decimals, so that a node never reports more memory than it has. */
export const hundredths = (amount: number): number => Math.floor(amount * 100 + SLACK) / 100;
