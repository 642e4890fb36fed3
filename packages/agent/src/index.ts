// The public surface: an agent inside another program, for tests and local clusters.

export { startAgent } from "./agent/agent.ts";
export type { Agent } from "./agent/handle.ts";
// The parts of a node, for programs with their own network, clock and runtime.
export type { CheckpointTarget, NodeCheckpointResult } from "./checkpoint/types.ts";
export type { End, Exit, ReceivedOrder, Stop } from "./lifecycle/attempt.ts";
export type { RecoveredFacts } from "./lifecycle/recover.ts";
export type { Dialer } from "./link/dial.ts";
export { gate } from "./link/gate.ts";
export type { HeartbeatTimer } from "./link/heartbeat-timer.ts";
export { type KnownCluster, knownCluster } from "./link/known-cluster.ts";
export { identityOf, type NodeIdentity } from "./link/messages.ts";
export { startNode } from "./node/node.ts";
export type { AgentNode } from "./node/node-handle.ts";
export type { AgentOptions } from "./options/options.ts";
export type { Runtime, RuntimeListener, StartResult } from "./runtime/base/runtime.ts";
