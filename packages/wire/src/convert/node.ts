// Converts nodes and their capabilities in both directions.

import { create } from "@bufbuild/protobuf";
import type { Capabilities, Node, NodeState } from "@lattice/core";
import type * as proto from "../../gen/lattice/v1/nodes_pb.ts";
import { CapabilitiesSchema, ClaimSchema, NodeSchema } from "../../gen/lattice/v1/nodes_pb.ts";
import { FieldList } from "../errors/field-list.ts";
import { timestampFromMs } from "../json/timestamp.ts";
import { bytesToGb, gbToBytes, isUsableGb } from "./amounts.ts";
import { nodeStateToProto } from "./states.ts";
import { insideFromProto, insideToProto } from "./topology.ts";

/** Facts that only the leader has: heartbeats are not in the log. */
interface NodeLiveness {
  /** Milliseconds since 1970; null when this server has received no heartbeat. */
  readonly lastHeardAt: number | null;
  readonly connected: boolean;
}

export function nodeToProto(node: Node, liveness: NodeLiveness): proto.Node {
  const message = create(NodeSchema, {
    id: node.id,
    state: nodeStateToProto(node.state.kind),
    cause: "cause" in node.state ? node.state.cause : "",
    reason: reasonOf(node.state),
    since: timestampFromMs(node.state.since),
    capabilities: capabilitiesToProto(node.capabilities),
    group: node.group,
    conformance: node.conformance,
    homeVcluster: node.homeVCluster ?? "",
    claims: node.claims.map((claim) =>
      create(ClaimSchema, {
        allocationId: claim.allocation,
        attempt: claim.attempt,
        tenant: claim.tenant,
        vcluster: claim.vcluster,
        releasing: claim.releasing,
        exclusive: claim.exclusive,
        cpuCores: claim.share?.cpuCores ?? 0,
        memoryGb: bytesToGb(claim.share?.memoryBytes ?? 0),
        gpuCount: claim.share?.gpuCount ?? 0,
      }),
    ),
    agentVersion: node.agentVersion,
    connected: liveness.connected,
    address: node.address,
    currentVcluster: node.claims[0]?.vcluster ?? "",
  });
  if (node.warning !== undefined) message.hardwareWarning = node.warning.reason;
  if (node.drift !== undefined) {
    message.expectedConformance = node.drift.expected;
    message.driftedSince = timestampFromMs(node.drift.since);
  }
  if (liveness.lastHeardAt !== null) message.lastHeartbeat = timestampFromMs(liveness.lastHeardAt);
  return message;
}

const reasonOf = (state: NodeState): string => ("reason" in state ? state.reason : "");

export const capabilitiesToProto = (c: Capabilities): proto.Capabilities =>
  create(CapabilitiesSchema, {
    cpuCores: c.cpuCores,
    memoryGb: bytesToGb(c.memoryBytes),
    gpuType: c.gpuType,
    gpuCount: c.gpuCount,
    features: [...c.features],
    hostname: c.hostname,
    kernel: c.kernel,
    isolation: c.isolation,
    hollow: c.hollow,
    ...insideToProto(c),
    runtimes: [...(c.runtimes ?? [])],
  });

/** Throws a ProblemError that names the field. */
export function capabilitiesFromProto(c: proto.Capabilities): Capabilities {
  const problems = new FieldList();
  if (!isUsableGb(c.memoryGb)) problems.add("capabilities.memory_gb", "must be a number of GiB, 0 or more");
  const inside = insideFromProto(c, problems);
  problems.throwIfAny();
  return {
    cpuCores: c.cpuCores,
    memoryBytes: gbToBytes(c.memoryGb),
    gpuType: c.gpuType,
    gpuCount: c.gpuCount,
    features: [...c.features],
    hostname: c.hostname,
    kernel: c.kernel,
    isolation: c.isolation,
    hollow: c.hollow,
    ...inside,
    ...(c.runtimes.length === 0 ? null : { runtimes: [...c.runtimes] }),
  };
}
