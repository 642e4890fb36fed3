// The public surface: an agent inside another program, as tests and local clusters use it.

export type { After } from "./after.ts";
export { type Agent, type AgentSurroundings, startAgent } from "./agent.ts";
// What a node is made of, for a program that brings its own network, clock and runtime.
export type { Result as CheckpointResult, Target as CheckpointTarget } from "./checkpoint/types.ts";
export type { End, Exit, Order, Stop } from "./lifecycle/attempt.ts";
export type { Facts } from "./lifecycle/recover.ts";
export type { Dialer } from "./link/dial.ts";
export { gate } from "./link/gate.ts";
export { type Identity, identityOf } from "./link/messages.ts";
export type { Wheel } from "./link/wheel.ts";
export { startNode } from "./node.ts";
export type { Node } from "./node-handle.ts";
export type { NodeOptions } from "./node-options.ts";
export { type AgentOptions, parseOptions } from "./options.ts";
export type { Runtime, RuntimeListener, StartResult } from "./runtime/runtime.ts";
export { version } from "./version.ts";
