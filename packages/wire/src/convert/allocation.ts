// Converts an allocation record to the contract: the phase is flattened into columns. The caller adds what only the
// leader knows: the pending reasons and the estimated start.

import { create } from "@bufbuild/protobuf";
import {
  type Allocation,
  type AllocationPhase,
  DEPENDENCY_FAILED,
  isFinal,
  isPlaced,
  type NodeProgress,
  type PlacedPhase,
} from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/allocations_pb.ts";
import {
  AllocationSchema,
  AllocationState,
  NetworkStatusSchema,
  NodeProgressSchema,
} from "../../gen/lattice/v1/allocations_pb.ts";
import { timestampFromMs } from "../json/timestamp.ts";
import { checkpointStatus } from "./checkpoint.ts";
import { dependencyToProto } from "./dependencies.ts";
import { groupStatus } from "./group-status.ts";
import { holdStatus } from "./hold.ts";
import { scalingStatus } from "./scaling.ts";
import { shownSpec } from "./shown-spec.ts";
import { allocationStateToProto } from "./states.ts";
import { attemptUsagesToProto } from "./used-resources.ts";

export interface AllocationExtra {
  readonly pendingReasons?: readonly string[];
  /** One for each of them. */
  readonly reasonCodes?: readonly string[];
  /** Milliseconds since 1970, and whether it is a reservation. */
  readonly estimate?: { readonly at: number; readonly reserved: boolean } | null;
  readonly logIndex?: number;
  /** The distinct values of its nodes. */
  readonly topologyGroups?: readonly string[];
}

/**
 * Written out in full instead of made by `create`, which grows a message field by field: lists make a hundred of these at a
 * time, and what they leave behind is paid for in pauses. The compiler sees to it that no field is forgotten.
 */
export function allocationToProto(allocation: Allocation, extra: AllocationExtra = {}): proto.Allocation {
  const { phase, group } = allocation;
  const ended = isFinal(phase) ? phase : null;
  return {
    $typeName: AllocationSchema.typeName,
    id: allocation.id,
    state: allocationStateToProto(phase.kind),
    spec: shownSpec(allocation),
    user: allocation.user,
    submittedAt: timestampFromMs(allocation.submittedAt),
    startedAt: instantOf("startedAt" in phase ? phase.startedAt : null),
    endedAt: instantOf(ended?.endedAt),
    nodes: "nodes" in phase ? [...phase.nodes] : [],
    attempt: allocation.attempt,
    requeues: allocation.requeues,
    exitCode: ended?.exitCode ?? undefined,
    reason: reasonOf(phase),
    message: messageOf(phase),
    pendingReasons: [...(extra.pendingReasons ?? [])],
    estimatedStart: instantOf(extra.estimate?.at),
    progress: isPlaced(phase) ? progressOf(phase) : [],
    backfilled: allocation.backfilled,
    scores: { ...allocation.scores },
    logIndex: extra.logIndex === undefined ? "" : `${extra.logIndex}`,
    preemptions: allocation.preemptions,
    checkpoint: checkpointStatus(allocation),
    suspensions: allocation.suspensions,
    group: group === undefined ? undefined : groupStatus(group, group.counts),
    dagId: allocation.dag ?? "",
    unmetDependencies: ended !== null ? [] : unmetOf(allocation),
    pendingReasonCodes: [...(extra.reasonCodes ?? [])],
    scaling: scalingStatus(allocation) ?? undefined,
    network: allocation.network === undefined ? undefined : create(NetworkStatusSchema, allocation.network),
    topologyGroups: [...(extra.topologyGroups ?? [])],
    nodesJoined: allocation.added,
    hold: allocation.hold === undefined ? undefined : holdStatus(allocation.hold),
    startReserved: extra.estimate?.reserved ?? false,
    usage: attemptUsagesToProto(allocation),
    cancelledBy: cancelledBy(phase),
  };
}

const instantOf = (ms: number | null | undefined) => (typeof ms === "number" ? timestampFromMs(ms) : undefined);

const unmetOf = ({ spec, unmet }: Allocation): proto.Dependency[] =>
  unmet.flatMap((n) => spec.dependsOn?.[n] ?? []).map(dependencyToProto);

/** The reason of a failure, cancellation or requeue; empty otherwise. */
function reasonOf(phase: AllocationPhase): string {
  switch (phase.kind) {
    case "pending":
      return phase.cause === "submitted" ? "" : phase.cause;
    case "suspended":
      return phase.cause;
    case "checkpointing":
      return phase.request.cause;
    case "failed":
    case "cancelled":
      return phase.reason;
    default:
      return "";
  }
}

/** A dependent that can never run is cancelled by the cluster. */
const cancelledBy = (phase: AllocationPhase): string =>
  phase.kind === "cancelled" && phase.reason !== DEPENDENCY_FAILED ? phase.by : "";

function messageOf(phase: AllocationPhase): string {
  if (phase.kind === "checkpointing") return phase.request.message;
  return "message" in phase ? (phase.message ?? "") : "";
}

const progressOf = ({ nodes, progress }: PlacedPhase): proto.NodeProgress[] =>
  nodes.map((node, i) => nodeProgressToProto(node, progress[i]));

function nodeProgressToProto(node: string, progress: NodeProgress | undefined): proto.NodeProgress {
  const message = create(NodeProgressSchema, {
    node,
    // A node in state `ordered` has not responded yet, so it is shown as pending.
    state:
      progress === undefined || progress.state === "ordered"
        ? AllocationState.PENDING
        : allocationStateToProto(progress.state),
    message: progress?.message ?? "",
  });
  if (progress !== undefined && progress.exitCode !== null) message.exitCode = progress.exitCode;
  return message;
}
