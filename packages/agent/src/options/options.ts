// The command line as one complete, checked value. No other code reads the agent's flags or environment.

import { hostname } from "node:os";
import { parseGroupId, parseNodeId, parseVClusterId } from "@lattice/core";
import { Command, InvalidArgumentError } from "commander";
import { reportUsage } from "../base/stderr.ts";
import type { HardwareFlags } from "../discovery/hardware.ts";
import type { IdentityOptions } from "../identity/find.ts";
import { parseServer } from "../link/dial.ts";
import { SHIP_LIMITS, type ShipLimits } from "../logs/ship/plan.ts";
import { DEFAULT_METRICS, type MetricsListen } from "../metrics/serve.ts";
import { type DiscoveryFlags, type DiscoveryOptions, discoveryOptions, withDiscovery } from "./discovery.ts";
import { optionHelp } from "./help.ts";
import { type IdentityFlags, identityOf } from "./identity.ts";
import { type SoftwareFlags, type SoftwareOptions, softwareOptions, withSoftware } from "./software.ts";
import { listenAddress, named, peerAddress, positive, whole } from "./values.ts";

export interface AgentOptions {
  readonly nodeId: string;
  readonly group: string;
  /** Empty when the node serves all vClusters. */
  readonly homeVcluster: string;
  readonly servers: readonly string[];
  readonly dataDir: string;
  /** Empty for agent-state.json in the data folder. */
  readonly stateFile: string;
  /** From LATTICE_AGENT_TOKEN; undefined when servers need none. */
  readonly token: string | undefined;
  readonly identity: IdentityOptions;
  /** Servers have https:// URLs and no configured authority. */
  readonly secure: boolean;
  readonly logLevel: string;
  /** host:port on which other agents reach this one; port 0 for any, empty for none. */
  readonly peerListen: string;
  /** Processes and threads of an attempt; 0 for the default. */
  readonly maxPids: number;
  /** `null` when metrics are not served. */
  readonly metrics: MetricsListen | null;
  readonly killWorkloadsOnExit: boolean;
  readonly hardware: HardwareFlags;
  readonly discovery: DiscoveryOptions;
  readonly logs: LogOptions;
  readonly software: SoftwareOptions;
  readonly hollow: {
    readonly count: number;
    readonly prefix: string;
    readonly runtimeMs: number;
    readonly nodesPerGroup: number;
  } | null;
}

interface LogOptions {
  /** `null` when output stays on the node, the newest part of each log only. */
  readonly store: string | null;
  /** That may read a store in a folder; `null` for the agent's. */
  readonly group: string | null;
  /** A store in a folder that every user may enter is accepted. */
  readonly mayBeOpen: boolean;
  readonly limits: ShipLimits;
}

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];
/** Beyond this one process runs out of descriptors and memory. */
const MAX_HOLLOW = 50_000;

export function parseOptions(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  version: string,
): AgentOptions {
  const command = commandLine(version, env.LATTICE_AGENT_USER_MAPPING).parse(argv, { from: "user" });
  const flags = command.opts<Flags>();
  const shown = identityOf(flags, env, argv);
  if (shown === null)
    return command.error(
      "error: --bootstrap-cert, --bootstrap-key and --bootstrap-ca go together; with LATTICE_AGENT_TOKEN, --bootstrap-ca alone",
    );
  const servers = [...flags.server, ...flags.quorumEndpoint];
  return {
    nodeId: flags.nodeId,
    group: flags.group,
    homeVcluster: flags.homeVcluster,
    servers: servers.length > 0 ? servers : [DEFAULT_SERVER],
    dataDir: flags.dataDir,
    stateFile: flags.stateFile,
    token: env.LATTICE_AGENT_TOKEN === "" ? undefined : env.LATTICE_AGENT_TOKEN,
    ...shown,
    logLevel: flags.logLevel,
    peerListen: flags.peerListen,
    maxPids: flags.maxPids,
    metrics: metricsFlag(command, flags, env.LATTICE_AGENT_METRICS_LISTEN),
    killWorkloadsOnExit: flags.killWorkloadsOnExit || env.LATTICE_AGENT_KILL_WORKLOADS_ON_EXIT === "1",
    hardware: {
      cpuCores: flags.cpuCores,
      memoryGb: flags.memoryGb,
      gpuCount: flags.gpuCount,
      gpuType: flags.gpuType,
      cxlMemoryGb: flags.cxlMemoryGb,
      powerWatts: flags.powerWatts,
      features: flags.feature,
    },
    discovery: discoveryOptions(flags),
    logs: {
      store: flags.logStore ?? null,
      group: flags.logStoreGroup ?? null,
      mayBeOpen: flags.logStoreOpen,
      limits: limitsOf(flags),
    },
    software: softwareOptions(flags),
    hollow:
      flags.hollow === undefined
        ? null
        : {
            count: flags.hollow,
            prefix: flags.hollowPrefix,
            runtimeMs: flags.hollowRuntime,
            nodesPerGroup: flags.hollowGroupSize,
          },
  };
}

/** A named address is required; without one the default port may be taken by another agent. */
function metricsFlag(command: Command, flags: Flags, fromEnv: string | undefined): MetricsListen | null {
  const named = flags.metricsListen ?? (fromEnv === undefined || fromEnv === "" ? undefined : fromEnv);
  if (named === undefined) return flags.hollow === undefined ? { listen: DEFAULT_METRICS, required: false } : null;
  try {
    return listenAddress(named) === "none" ? null : { listen: named, required: true };
  } catch {
    return command.error(`error: LATTICE_AGENT_METRICS_LISTEN must be host:port, :port or none, not "${named}"`);
  }
}

const DEFAULT_SERVER = "127.0.0.1:50051";

interface Flags extends SoftwareFlags, DiscoveryFlags, IdentityFlags {
  nodeId: string;
  group: string;
  homeVcluster: string;
  server: string[];
  quorumEndpoint: string[];
  dataDir: string;
  stateFile: string;
  logLevel: string;
  peerListen: string;
  maxPids: number;
  metricsListen?: string;
  killWorkloadsOnExit: boolean;
  cpuCores?: number;
  memoryGb?: number;
  gpuCount?: number;
  gpuType?: string;
  cxlMemoryGb?: number;
  powerWatts?: number;
  feature: string[];
  logStore?: string;
  logStoreGroup?: string;
  logStoreOpen: boolean;
  logRing: number;
  logBuffer: number;
  logFlush: number;
  hollow?: number;
  hollowPrefix: string;
  hollowRuntime: number;
  hollowGroupSize: number;
}

/** Defines all flags. */
export const commandLine = (version: string, userMapping: string | undefined): Command =>
  withSoftware(withDiscovery(basicCommandLine(version)), userMapping);

function basicCommandLine(version: string): Command {
  return new Command("lattice-agent")
    .description("Runs allocations on this node, as the Lattice servers order.")
    .version(version)
    .configureHelp({ optionDescription: optionHelp })
    .configureOutput({ outputError: (text) => reportUsage(text) })
    .option("--server <host:port>", "a server to connect to (repeatable; tried in turn)", servers, [])
    .option("--quorum-endpoint <host:port>", "the same as --server", servers, [])
    .option("--bootstrap-cert <file>", "certificate of this node (PEM), used until SPIRE provides one")
    .option("--bootstrap-key <file>", "its key")
    .option(
      "--bootstrap-ca <file>",
      "CA that signed the servers' certificates (PEM); with a token alone, the CA that issues this node's certificate",
    )
    .option("--node-id <name>", "name of this node", named("node id", parseNodeId), hostname())
    .option("--group <name>", "topology group of this node", named("group", parseGroupId), "default")
    .option(
      "--home-vcluster <name>",
      "vCluster this node belongs to (default: serves all)",
      named("vCluster", parseVClusterId),
      "",
    )
    .option("--data-dir <path>", "folder for attempts and their logs", "/var/lib/lattice/agent")
    .option(
      "--state-file <path>",
      "file that lists the attempts with processes on this node (default: in the data directory)",
      "",
    )
    .option("--cpu-cores <n>", "overrides discovery", whole(1, 1_000_000))
    .option("--memory-gb <n>", "overrides discovery", positive)
    .option("--gpu-count <n>", "number of GPUs", whole(0, 1_000))
    .option("--gpu-type <name>", "type of the GPUs")
    .option("--cxl-memory-gb <n>", "memory behind CXL expanders, beyond --memory-gb", positive)
    .option("--power-watts <n>", "draw under load, for the power budget", whole(0, 1_000_000))
    .option(
      "--feature <name>",
      "a feature that jobs can ask for (repeatable)",
      (text, list: string[]) => [...list, text],
      [],
    )
    .option("--log-store <place>", "keep output there: a folder or s3://bucket/prefix")
    .option("--log-store-group <name>", "the group that may read a log store in a folder: that of the servers")
    .option("--log-store-open", "accept a log store that every user of this machine can enter", false)
    .option("--log-ring <mb>", "newest output of each log that stays on the node", whole(1, 1_000_000), 64)
    .option(
      "--log-buffer <mb>",
      "buffer for each log while the store is unreachable; 16 times as much while the store accepts data",
      whole(1, 1_000_000),
      256,
    )
    .option("--log-flush <seconds>", "longest time before output is written to the store", positive, 10)
    .option("--max-pids <n>", "processes and threads of one allocation here (0: 4096 per core)", whole(0, 4_194_304), 0)
    .option("--peer-listen <host:port>", "where agents of one large launch reach each other", peerAddress, "")
    .option(
      "--metrics-listen <host:port>",
      `address of /metrics for Prometheus, or none (default: ${DEFAULT_METRICS} where it is free)`,
      listenAddress,
    )
    .option("--kill-workloads-on-exit", "end all workloads when the agent stops", false)
    .option("--hollow <n>", "simulate n nodes that run nothing", whole(1, MAX_HOLLOW))
    .option("--hollow-prefix <text>", "simulated nodes are named by this and a number", "hollow-")
    .option("--hollow-runtime <ms>", "how long a simulated job runs", whole(0, 2 ** 30), 100)
    .option("--hollow-group-size <n>", "simulated nodes in each topology group", whole(1, MAX_HOLLOW), 100)
    .option("--log-level <level>", LOG_LEVELS.join(", "), level, "info");
}

const BYTES_PER_MB = 1024 ** 2;

const limitsOf = ({ logRing, logBuffer, logFlush }: Flags): ShipLimits => ({
  ...SHIP_LIMITS,
  ringBytes: logRing * BYTES_PER_MB,
  bufferBytes: Math.max(logRing, logBuffer) * BYTES_PER_MB,
  chunkBytes: Math.min(SHIP_LIMITS.chunkBytes, logRing * BYTES_PER_MB),
  flushMs: logFlush * 1000,
});

function servers(text: string, list: string[]): string[] {
  try {
    return [...list, parseServer(text)];
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

function level(text: string): string {
  if (!LOG_LEVELS.includes(text)) throw new InvalidArgumentError(`must be one of ${LOG_LEVELS.join(", ")}.`);
  return text;
}
