// The interface of a started agent, and the dependencies that its owner provides.

import type { Logger } from "pino";
import type { Isolation } from "../host/isolation/isolation.ts";

export interface Agent {
  /** Returns how many of its nodes are connected. */
  connected(): number;
  /** Returns how many attempts are not over. */
  live(): number;
  /** Resolves with the reason when the agent must not continue. */
  readonly failed: Promise<string>;
  /** Leaves workloads running, unless the options say that they end with the agent. */
  close(): Promise<void>;
}

export interface AgentContext {
  readonly log: Logger;
  readonly version: string;
  /** Returns how many errors nothing handled. Default: none is counted. */
  readonly internalErrors?: () => number;
  /** For tests. Default: the best isolation that the machine has. */
  readonly isolation?: Isolation["kind"];
}
