// Changes that a Hello makes to the record of a node: its registration, and whether the log needs an entry for it.

import {
  type Capabilities,
  type Node,
  type NodeHealthCommand,
  parseGroupId,
  parseNodeId,
  parseVClusterId,
  type RegisterNodeCommand,
} from "@lattice/core";
import { capabilitiesFromProto, type pb } from "@lattice/wire";

/** Returns the command, or the problem of the hello. */
export function registration(hello: pb.Hello): Omit<RegisterNodeCommand, "address"> | string {
  const node = parseNodeId(hello.nodeId);
  if (node === null) return `node_id "${hello.nodeId}" is not a valid name`;
  const group = parseGroupId(hello.group === "" ? "default" : hello.group);
  if (group === null) return `group "${hello.group}" is not a valid name`;
  const home = hello.homeVcluster === "" ? null : parseVClusterId(hello.homeVcluster);
  if (hello.homeVcluster !== "" && home === null) return `home_vcluster "${hello.homeVcluster}" is not a valid name`;
  if (hello.capabilities === undefined) return "capabilities are missing";
  return {
    kind: "node.register",
    node,
    capabilities: capabilitiesFromProto(hello.capabilities),
    group,
    conformance: hello.conformance,
    homeVCluster: home,
    agentVersion: hello.agentVersion,
    bootId: hello.bootId,
  };
}

const MAX_REASON_LENGTH = 500;

/** Returns `null` when the node has no fault, or is down because of one already. */
export function hardwareVerdict(node: Node | undefined, faults: readonly string[]): NodeHealthCommand | null {
  if (node === undefined || faults.length === 0) return null;
  if (node.state.kind === "down" && node.state.cause === "hardware") return null;
  const reason = faults.join("; ").slice(0, MAX_REASON_LENGTH);
  return { kind: "node.health", node: node.id, verdict: "hardware", reason };
}

/** Ten thousand agents that reconnect after a restart must not write ten thousand entries. */
export function changes(node: Node | undefined, command: RegisterNodeCommand): boolean {
  if (node === undefined) return true;
  if (node.state.kind === "down" || node.state.kind === "degraded" || node.state.kind === "unknown") return true;
  return differs(node, command);
}

/** Whether the registration differs from the record of the node. */
export function differs(node: Node | undefined, command: RegisterNodeCommand): boolean {
  if (node === undefined) return true;
  return (
    node.group !== command.group ||
    node.conformance !== command.conformance ||
    (node.homeAssigned !== true && node.homeVCluster !== command.homeVCluster) ||
    node.address !== command.address ||
    node.agentVersion !== command.agentVersion ||
    node.bootId !== command.bootId ||
    !sameCapabilities(node.capabilities, command.capabilities)
  );
}

const sameCapabilities = (a: Capabilities, b: Capabilities): boolean => JSON.stringify(a) === JSON.stringify(b);
