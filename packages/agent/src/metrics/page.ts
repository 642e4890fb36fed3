// The metrics page of an agent: its counters, what it holds, and its own resource use. Unknown values are left out.
// The page contains no users and no job names, because it needs no authentication.

import type { CacheStatus } from "../images/cache.ts";
import type { NodeCounts } from "./node-counts.ts";
import type { Tally } from "./tally.ts";
import { exposition, type Family, type MetricSample } from "./text.ts";

interface PageSource {
  readonly nodeId: string;
  readonly version: string;
  readonly tally: Tally;
  readonly node: () => NodeCounts;
  readonly connected: () => boolean;
  readonly hellos: () => number;
  readonly cache: () => CacheStatus;
  /** Accounts that were refused, by reason. */
  readonly refused: () => ReadonlyMap<string, number>;
  readonly faults: () => number;
  readonly internalErrors: () => number;
  readonly vitals: () => { readonly load1: number; readonly memoryAvailableGb: number };
  /** 0: there is none. */
  readonly certificateEndsMs: () => number;
}

const BYTES_PER_GB = 1024 ** 3;

export function metricsPage(source: PageSource): string {
  const { tally, nodeId } = source;
  const { heartbeat, startup, lastBeatMs, ended, refused } = tally.read();
  const ends = source.certificateEndsMs();
  return exposition(
    [
      family("lattice_agent_heartbeat_latency_seconds", "histogram", "Heartbeat to answer.", heartbeat.samples()),
      family(
        "lattice_agent_allocation_startup_seconds",
        "histogram",
        "Order to process, images and mounts included.",
        startup.samples(),
      ),
      one("lattice_agent_last_heartbeat_timestamp", "When the last heartbeat was sent.", seconds(lastBeatMs)),
      one("lattice_agent_connected", "1 while a server has welcomed this node.", Number(source.connected())),
      count("lattice_agent_connections_total", "Streams opened to a server.", source.hellos()),
      family(
        "lattice_agent_connections_refused_total",
        "counter",
        "Connections refused by a server or by this agent, by reason.",
        by("reason", refused),
      ),
      family(
        "lattice_agent_attempts_ended_total",
        "counter",
        "Attempts that ended here, by result.",
        by("result", ended),
      ),
      family(
        "lattice_agent_identities_refused_total",
        "counter",
        "Users whose jobs must not run here, by reason.",
        by("reason", source.refused()),
      ),
      ...held(source.node()),
      ...cached(source.cache()),
      one("lattice_agent_faults", "Faults found in this node.", source.faults()),
      count(
        "lattice_agent_internal_errors_total",
        "Errors of the agent that nothing handled.",
        source.internalErrors(),
      ),
      one("lattice_agent_node_load1", "Load of the machine over a minute.", source.vitals().load1),
      one(
        "lattice_agent_node_memory_available_bytes",
        "Memory that the machine has left.",
        source.vitals().memoryAvailableGb * BYTES_PER_GB,
      ),
      one("lattice_agent_certificate_end_timestamp_seconds", "When its certificate ends.", seconds(ends || null)),
      ...ownUse(),
      family("lattice_agent_build_info", "gauge", "The version that runs.", [
        { labels: { version: source.version }, value: 1 },
      ]),
    ],
    { node_id: nodeId },
  );
}

const family = (name: string, kind: Family["kind"], help: string, samples: readonly MetricSample[]): Family => ({
  name,
  kind,
  help,
  samples,
});

const one = (name: string, help: string, value: number | null): Family =>
  family(name, "gauge", help, value === null ? [] : [{ value }]);

const count = (name: string, help: string, value: number): Family => family(name, "counter", help, [{ value }]);

const by = (label: string, values: Iterable<readonly [string, number]>): readonly MetricSample[] =>
  [...values].map(([key, value]) => ({ labels: { [label]: key }, value }));

const seconds = (ms: number | null): number | null => (ms === null ? null : ms / 1000);

function held({ attempts, terminals, logStreams, reportsWaiting, log }: NodeCounts): readonly Family[] {
  return [
    family(
      "lattice_agent_attempts",
      "gauge",
      "Attempts on this node, by state.",
      by("state", Object.entries(attempts)),
    ),
    one("lattice_agent_terminals", "Terminals that are open.", terminals),
    one("lattice_agent_log_streams", "Logs that are being read.", logStreams),
    one("lattice_agent_reports_waiting", "Reports that no server has acknowledged.", reportsWaiting),
    one("lattice_agent_log_bytes_waiting", "Output that waits for its store.", log?.waitingBytes ?? null),
    ...(log === null
      ? []
      : [
          count(
            "lattice_agent_log_bytes_dropped_total",
            "Job output lost while the object store was unreachable.",
            log.droppedBytes,
          ),
          count(
            "lattice_agent_log_bytes_trimmed_total",
            "Job output deleted to make room for newer output, without an object store.",
            log.trimmedBytes,
          ),
        ]),
  ];
}

const cached = ({ images, usedBytes, sizeBytes }: CacheStatus): readonly Family[] => [
  one("lattice_agent_cache_images", "Images in the cache.", images.length),
  one("lattice_agent_cache_used_bytes", "Size of the cached images.", usedBytes),
  one("lattice_agent_cache_size_bytes", "Size limit of the image cache.", sizeBytes),
];

const MICROSECONDS = 1e6;

function ownUse(): readonly Family[] {
  const { user, system } = process.cpuUsage();
  const began = Date.now() / 1000 - process.uptime();
  return [
    count("process_cpu_seconds_total", "Processor time of the agent.", (user + system) / MICROSECONDS),
    one("process_resident_memory_bytes", "Memory of the agent.", process.memoryUsage.rss()),
    one("process_start_time_seconds", "When the agent began.", began),
  ];
}
