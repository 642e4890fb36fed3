// An allocation record as the contract shows it: the phase flattened into columns, with what only the
// leader knows (why it waits, when it should start) added by the caller.

import { create } from "@bufbuild/protobuf";
import {
  type Allocation,
  type AllocationPhase,
  isFinal,
  isPlaced,
  type NodeProgress,
  type PlacedPhase,
  specToRun,
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
import { specToProto } from "./spec-to-proto.ts";
import { allocationStateToProto } from "./states.ts";

export interface AllocationExtra {
  readonly pendingReasons?: readonly string[];
  /** One for each of them. */
  readonly reasonCodes?: readonly string[];
  /** Milliseconds since 1970, and whether a reservation stands for it. */
  readonly estimate?: { readonly at: number; readonly reserved: boolean } | null;
  readonly logIndex?: number;
  /** Of the nodes it is on, each once. */
  readonly topologyGroups?: readonly string[];
}

export function allocationToProto(allocation: Allocation, extra: AllocationExtra = {}): proto.Allocation {
  const { phase, group } = allocation;
  const checkpoint = checkpointStatus(allocation);
  const message = create(AllocationSchema, {
    id: allocation.id,
    state: allocationStateToProto(phase.kind),
    spec: specToProto(specToRun(allocation), group),
    user: allocation.user,
    submittedAt: timestampFromMs(allocation.submittedAt),
    nodes: "nodes" in phase ? [...phase.nodes] : [],
    attempt: allocation.attempt,
    requeues: allocation.requeues,
    preemptions: allocation.preemptions ?? 0,
    suspensions: allocation.suspensions ?? 0,
    nodesJoined: allocation.added ?? 0,
    ...(checkpoint === undefined ? null : { checkpoint }),
    reason: reasonOf(phase),
    message: messageOf(phase),
    pendingReasons: [...(extra.pendingReasons ?? [])],
    pendingReasonCodes: [...(extra.reasonCodes ?? [])],
    progress: isPlaced(phase) ? progressOf(phase) : [],
    backfilled: allocation.backfilled,
    scores: allocation.scores,
    logIndex: extra.logIndex === undefined ? "" : `${extra.logIndex}`,
    topologyGroups: [...(extra.topologyGroups ?? [])],
    dagId: allocation.dag ?? "",
    unmet: isFinal(phase) ? [] : unmetOf(allocation),
    ...(group === undefined ? null : { group: groupStatus(group, group.counts) }),
  });
  if (allocation.hold !== undefined) message.hold = holdStatus(allocation.hold);
  const scaling = scalingStatus(allocation);
  if (scaling !== null) message.scaling = scaling;
  if (allocation.network !== undefined) message.network = create(NetworkStatusSchema, allocation.network);
  const startedAt = "startedAt" in phase ? phase.startedAt : null;
  if (startedAt !== null) message.startedAt = timestampFromMs(startedAt);
  if (isFinal(phase)) {
    message.endedAt = timestampFromMs(phase.endedAt);
    if (phase.exitCode !== null) message.exitCode = phase.exitCode;
  }
  if (extra.estimate !== undefined && extra.estimate !== null) {
    message.estimatedStart = timestampFromMs(extra.estimate.at);
    message.startReserved = extra.estimate.reserved;
  }
  return message;
}

const unmetOf = ({ spec, unmet = [] }: Allocation): proto.Dependency[] =>
  unmet.flatMap((n) => spec.dependsOn?.[n] ?? []).map(dependencyToProto);

/** Why it failed, was cancelled or was requeued; empty otherwise. */
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

function messageOf(phase: AllocationPhase): string {
  if (phase.kind === "checkpointing") return phase.request.message;
  return "message" in phase ? (phase.message ?? "") : "";
}

const progressOf = ({ nodes, progress }: PlacedPhase): proto.NodeProgress[] =>
  nodes.map((node, i) => nodeProgressToProto(node, progress[i]));

function nodeProgressToProto(node: string, progress: NodeProgress | undefined): proto.NodeProgress {
  const message = create(NodeProgressSchema, {
    node,
    // Ordered means that the node has not answered yet: to a reader it still waits.
    state:
      progress === undefined || progress.state === "ordered"
        ? AllocationState.PENDING
        : allocationStateToProto(progress.state),
    message: progress?.message ?? "",
  });
  if (progress !== undefined && progress.exitCode !== null) message.exitCode = progress.exitCode;
  return message;
}
