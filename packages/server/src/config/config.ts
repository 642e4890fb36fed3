// The configuration as the server sees it: complete, frozen, in the units the code uses. Only
// `load.ts` makes one; nothing inside the server supplies a default of its own.

import type { Duration } from "@lattice/core";
import type { ListenAddress } from "./listen.ts";

export interface Config {
  readonly server: {
    readonly id: string;
    /** Absolute. */
    readonly dataDir: string;
    /** Refuses conveniences that a production cluster should not have. */
    readonly production: boolean;
  };
  readonly quorum: {
    readonly engine: "embedded" | "memory";
    readonly nodeId: number;
    /** Absolute. */
    readonly dataDir: string;
    readonly snapshotEveryEntries: number;
  };
  readonly api: {
    readonly grpcListen: ListenAddress;
    readonly restListen: ListenAddress;
    readonly allowUnauthenticated: boolean;
    readonly autoCreateTenants: boolean;
  };
  readonly scheduling: {
    /** Least time between two cycles of one vCluster. */
    readonly minCycleMs: number;
    /** For vClusters made without one. */
    readonly backfillDepth: number;
  };
  readonly nodeAgent: {
    readonly heartbeatInterval: Duration;
    readonly heartbeatTimeout: Duration;
    readonly gracePeriod: Duration;
  };
  readonly retention: {
    readonly maxFinished: number;
    readonly maxFinishedAge: Duration;
  };
  readonly compat: {
    readonly setSlurmEnv: boolean;
  };
  readonly log: {
    readonly level: LogLevel;
  };
}

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
