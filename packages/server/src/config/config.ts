// The configuration as the server sees it: complete, frozen, in the units the code uses. Only
// `load.ts` makes one; nothing inside the server supplies a default of its own.

import type { Duration, NetworkSettings } from "@lattice/core";
import type { AuditConfig } from "./audit.ts";
import type { AuthConfig } from "./auth.ts";
import type { BackupConfig } from "./backup.ts";
import type { CheckpointConfig } from "./checkpoint.ts";
import type { FabricConfig } from "./fabric.ts";
import type { FaultsConfig } from "./faults.ts";
import type { ListenAddress } from "./listen.ts";
import type { LogsConfig } from "./logs.ts";
import type { NotificationsConfig } from "./notifications.ts";
import type { RateLimits } from "./rate-limits.ts";
import type { TlsConfig } from "./tls.ts";
import type { TraceConfig } from "./trace.ts";

export interface Config {
  readonly server: {
    readonly id: string;
    /** Absolute. */
    readonly dataDir: string;
    /** Refuses conveniences that a production cluster should not have. */
    readonly production: boolean;
  };
  readonly quorum: {
    readonly engine: "embedded" | "memory" | "etcd";
    readonly nodeId: number;
    /** Absolute. */
    readonly dataDir: string;
    readonly snapshotEveryEntries: number;
    /** The other servers, by id. */
    readonly peers: readonly { readonly id: number; readonly address: string }[];
    readonly etcd: EtcdConfig;
  };
  readonly api: {
    readonly grpcListen: ListenAddress;
    readonly restListen: ListenAddress;
    /** Where the other servers reach the gRPC port of this one. */
    readonly advertiseGrpc: ListenAddress;
    readonly allowUnauthenticated: boolean;
    readonly autoCreateTenants: boolean;
    readonly auth: AuthConfig;
    /** Null: the listeners speak in the clear. */
    readonly tls: TlsConfig | null;
    /** Against clients that send their headers byte by byte. */
    readonly headersTimeout: Duration;
    /** For a whole request with its body; over gRPC for the first message. */
    readonly requestTimeout: Duration;
    /** How often the token of an open stream is looked at again. */
    readonly tokenRecheckInterval: Duration;
    /** How long a service may take to begin its answer. */
    readonly proxyAnswerTimeout: Duration;
    /** Pages from elsewhere that may call; empty without authentication. */
    readonly allowedOrigins: readonly string[];
    /** What clients should ask the provider for. */
    readonly loginScopes: readonly string[];
  };
  readonly scheduling: {
    /** Least time between two cycles of one vCluster. */
    readonly minCycleMs: number;
    /** For vClusters made without one. */
    readonly backfillDepth: number;
    /** Rolling window of the budgets, today included. */
    readonly budgetPeriodDays: number;
    /** Most members of one DAG. */
    readonly maxDagSize: number;
    /** Of storage, for all that run together; null: nobody has said, and nothing is held back for it. */
    readonly storageMBps: number | null;
    /** Nodes that sensitive vClusters together may hold; null: as many as there are. */
    readonly sensitivePoolSize: number | null;
  };
  readonly scheduler: {
    readonly trace: TraceConfig;
    /** A node that has not told its fingerprint for longer counts as one of unknown conformance; null: never. */
    readonly fingerprintWindow: Duration | null;
  };
  readonly nodeAgent: {
    readonly heartbeatInterval: Duration;
    readonly heartbeatTimeout: Duration;
    readonly gracePeriod: Duration;
    /** Of nodes that one vCluster has lent to another, where it is shorter. */
    readonly borrowedGracePeriod: Duration;
    /** Of nodes at home in a sensitive vCluster, where they are longer. */
    readonly sensitiveHeartbeatTimeout: Duration;
    readonly sensitiveGracePeriod: Duration;
  };
  readonly faults: FaultsConfig;
  readonly retention: {
    readonly maxFinished: number;
    readonly maxFinishedAge: Duration;
  };
  readonly checkpoint: CheckpointConfig;
  readonly logs: LogsConfig;
  readonly sessions: {
    /** A terminal is told when nothing was typed for so long; 0: never. */
    readonly idleTimeout: Duration;
    /** Whoever gives no sign of life for so long has gone. */
    readonly keepaliveTimeout: Duration;
  };
  readonly rateLimits: RateLimits;
  readonly audit: AuditConfig;
  readonly backup: BackupConfig;
  readonly notifications: NotificationsConfig;
  readonly network: NetworkSettings;
  readonly telemetry: {
    /** A time-series store that speaks the HTTP API of Prometheus; null: agents are asked instead. */
    readonly storeUrl: string | null;
  };
  /** Null: no manager of a network hands out credentials. */
  readonly fabric: FabricConfig | null;
  readonly tasks: {
    /** Launches on more nodes exchange addresses among their agents. */
    readonly fenceStarNodes: number;
  };
  readonly compat: {
    readonly setSlurmEnv: boolean;
  };
  readonly log: {
    readonly level: LogLevel;
    /** Which requests are written down. */
    readonly access: AccessMode;
  };
  /** Every key of the file with what this server was told and by whom, for people who ask. */
  readonly stated: Readonly<Record<string, Stated>>;
}

/** What was said of a key, and by whom. */
export interface Stated {
  readonly source: "flag" | "file" | "environment" | "default";
  /** In JSON, with secrets taken out. */
  readonly value: string;
}

export interface EtcdConfig {
  readonly endpoints: readonly string[];
  /** This server runs a member of its own. */
  readonly managed: boolean;
  readonly prefix: string;
  /** Null: found on the PATH. */
  readonly binary: string | null;
  readonly leaseSeconds: number;
  /** Where the member of our own answers its server. */
  readonly clientListen: string;
  /** Where other members reach it, and what it binds to for that; null: derived from the address. */
  readonly peerAddress: string;
  readonly peerListen: string | null;
  /** Absolute paths of PEM files. */
  readonly tls: { readonly ca: string; readonly cert: string | null; readonly key: string | null } | null;
}

export const ACCESS_MODES = ["all", "refused", "none"] as const;
export type AccessMode = (typeof ACCESS_MODES)[number];
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
