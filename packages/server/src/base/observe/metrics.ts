// All metrics of the server by name. Callers see functions instead of the library, so that the library can be replaced
// and a name or a label cannot be mistyped. Gauges of the state are computed at each scrape.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { type CheckpointMetrics, checkpointMetrics } from "./checkpoints.ts";
import { type FailureMetrics, failureMetrics } from "./failures.ts";
import type { Reading } from "./recorder.ts";
import { type SchedulingMetrics, schedulingMetrics } from "./scheduling.ts";
import { type StorageMetrics, storageMetrics } from "./storage.ts";

export interface Metrics extends SchedulingMetrics, CheckpointMetrics, FailureMetrics, StorageMetrics {
  /** `code` is "ok" or a code of the error catalogue. */
  apiRequest(rpc: string, code: string, seconds: number): void;
  /** A call over a limit, by the option of the limit. */
  rateLimited(option: string): void;
  /** The certificate files changed. */
  certificateReloaded(result: "taken" | "refused"): void;
  certificateEnds(atMs: number): void;
  /** The earliest expiry among the certificates of connected agents; `null` without certificates. */
  agentCertificateEnds(atMs: number | null): void;
  /** An agent requested its first certificate or a renewal. */
  certificateRenewed(result: "first" | "issued" | "refused"): void;
  /** An agent presented no identity, or that of another node. */
  agentRefused(): void;
  /** A server or an agent of another cluster was refused. */
  foreignRefused(peer: "agent" | "server"): void;
  /** A stream was ended because its client stopped reading. */
  streamStalled(rpc: string): void;
  logAppend(seconds: number, commands: number): void;
  event(kind: string): void;
  /** One value per state; omitted states are removed. */
  allocations(byState: Readonly<Record<string, number>>): void;
  /** Allocations that wait for others, and elements of task groups that wait for their turn. */
  heldBack(counts: {
    readonly blocked: number;
    readonly elements: number;
    readonly onHold: Readonly<Record<"user" | "admin", number>>;
  }): void;
  dags(byState: Readonly<Record<string, number>>): void;
  nodes(byState: Readonly<Record<string, number>>): void;
  agentsConnected(count: number): void;
  terminalsOpen(count: number): void;
  /** Of all agents that are connected here. */
  output(bytes: { readonly waiting: number; readonly dropped: number }): void;
  /** Finished records that are not in the history yet; near 0 unless the disk fails. */
  historyWaiting(count: number): void;
  /** Entries of the log whose archived records may be missing from this server's history; 0 when it is complete. */
  historyGap(entries: number): void;
  membershipChange(change: "added" | "removed"): void;
  /** Whether the requested server took over. */
  leadershipTransfer(result: "done" | "elsewhere"): void;
  /** Whether this server leads. */
  leading(leads: boolean): void;
  /** A scheduled backup, with its size and time if it was written. */
  backup(result: "written" | "failed", written: { readonly bytes: number; readonly atMs: number } | null): void;
  /** A launch of tasks is over. */
  launchEnded(result: "completed" | "failed", tasks: number): void;
  /** This leader resumed a launch of an earlier leader. */
  launchResumed(): void;
  /** The pool of network numbers, and how many are in use. */
  networks(total: number, used: number): void;
  /** Audit records that the leader has not signed yet; near 0 unless the key is missing. */
  auditUnsigned(count: number): void;
  /** Keys that verify job tokens. */
  jobKeys(count: number): void;
  /** A service was scaled by one node, or could not be. */
  scaled(direction: "up" | "down", result: "done" | "refused"): void;
  /** The metric of a service had no value. */
  metricQueryFailed(): void;
  /** A call to the fabric manager is over. */
  fabric(operation: string, result: "done" | "failed"): void;
  /** The result of a delivery to a webhook. */
  webhook(hook: string, result: "delivered" | "failed" | "given_up"): void;
  /** Active notices by kind, and pending deliveries. */
  notices(byKind: Readonly<Record<string, number>>, waiting: number): void;
  /** Called before every scrape. */
  onScrape(collect: () => void): void;
  /** Adds families that are not declared here, in the text format, at the end of the page. */
  alsoRender(more: () => string): void;
  render(): Promise<string>;
  /** The same as `render`, as values. */
  readings(): Promise<readonly Reading[]>;
  readonly contentType: string;
  /** All declared families, for the reference page. */
  families(): readonly MetricFamily[];
}

interface MetricFamily {
  readonly name: string;
  readonly kind: string;
  readonly help: string;
  readonly labels: readonly string[];
}

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const BATCH = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const m = defineMetrics(registry);
  const collectors: (() => void)[] = [];
  const others: (() => string)[] = [];
  return {
    apiRequest(rpc, code, seconds) {
      m.requests.inc({ rpc, code });
      m.requestSeconds.observe({ rpc }, seconds);
    },
    logAppend(seconds, commands) {
      m.appendSeconds.observe(seconds);
      m.batchCommands.observe(commands);
    },
    rateLimited: (limit) => m.rateLimited.inc({ limit }),
    streamStalled: (rpc) => m.stalled.inc({ rpc }),
    certificateReloaded: (result) => m.certificateReloads.inc({ result }),
    certificateEnds: (atMs) => m.certificateEnd.set(atMs / 1_000),
    agentCertificateEnds(atMs) {
      m.agentCertificateEnd.reset();
      if (atMs !== null) m.agentCertificateEnd.set(atMs / 1_000);
    },
    certificateRenewed: (result) => m.certificateRenewals.inc({ result }),
    agentRefused: () => m.agentsRefused.inc(),
    foreignRefused: (peer) => m.foreignRefused.inc({ peer }),
    ...schedulingMetrics(registry),
    ...checkpointMetrics(registry),
    ...failureMetrics(registry),
    ...storageMetrics(registry),
    event: (kind) => m.events.inc({ kind }),
    allocations: (byState) => setAll(m.allocations, byState),
    heldBack({ blocked, elements, onHold }) {
      m.onHold.set({ by: "user" }, onHold.user);
      m.onHold.set({ by: "admin" }, onHold.admin);
      m.blocked.set(blocked);
      m.waitingElements.set(elements);
    },
    dags: (byState) => setAll(m.dags, byState),
    nodes: (byState) => setAll(m.nodes, byState),
    agentsConnected: (count) => m.agents.set(count),
    terminalsOpen: (count) => m.terminals.set(count),
    output({ waiting, dropped }) {
      m.outputWaiting.set(waiting);
      m.outputDropped.set(dropped);
    },
    historyWaiting: (count) => m.historyWaiting.set(count),
    historyGap: (entries) => m.historyGap.set(entries),
    membershipChange: (change) => m.membershipChanges.inc({ change }),
    leadershipTransfer: (result) => m.transfers.inc({ result }),
    leading: (leads) => m.leading.set(leads ? 1 : 0),
    backup(result, written) {
      m.backups.inc({ result });
      if (written === null) return;
      m.backupBytes.set(written.bytes);
      m.backupTime.set(written.atMs / 1000);
    },
    launchResumed: () => m.launchesResumed.inc(),
    launchEnded(result, tasks) {
      m.launches.inc({ result });
      m.launchedTasks.inc(tasks);
    },
    auditUnsigned: (count) => m.auditUnsigned.set(count),
    jobKeys: (count) => m.jobKeys.set(count),
    networks(total, used) {
      m.vniPool.set(total);
      m.vniUsed.set(used);
      m.vniAvailable.set(Math.max(0, total - used));
    },
    scaled: (direction, result) => m.scaled.inc({ direction, result }),
    metricQueryFailed: () => m.metricFailures.inc(),
    fabric: (operation, result) => m.fabric.inc({ operation, result }),
    webhook: (hook, result) => m.webhooks.inc({ hook, result }),
    notices(byKind, waiting) {
      m.notices.reset();
      for (const [kind, count] of Object.entries(byKind)) m.notices.set({ kind }, count);
      m.deliveries.set(waiting);
    },
    onScrape: (collect) => void collectors.push(collect),
    alsoRender: (more) => void others.push(more),
    async render() {
      for (const collect of collectors) collect();
      return [await registry.metrics(), ...others.map((more) => more())].join("");
    },
    async readings() {
      for (const collect of collectors) collect();
      return (await registry.getMetricsAsJSON()).flatMap(readingsOf);
    },
    contentType: registry.contentType,
    families: () => registry.getMetricsAsArray().map(familyOf),
  };
}

/** Gauges of the library with the suffix of counters; each is the sum of a gauge by type that stays. */
const MISNAMED = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

function defineMetrics(registry: Registry) {
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const define = definers(registry);
  return {
    ...defineApiMetrics(define),
    ...defineServerMetrics(define),
    ...defineStateMetrics(define),
    ...defineWorkMetrics(define),
  };
}

type Definers = ReturnType<typeof definers>;

function definers(registry: Registry) {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter<L>({ name, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, buckets: number[], labelNames: readonly L[]) =>
    new Histogram<L>({ name, help, buckets, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge<L>({ name, help, labelNames, registers });
  return { counter, histogram, gauge };
}

const defineApiMetrics = ({ counter, gauge, histogram }: Definers) => ({
  requests: counter("lattice_api_requests_total", "API calls answered, by RPC and outcome.", ["rpc", "code"]),
  requestSeconds: histogram(
    "lattice_api_request_seconds",
    "Time to answer a call; for streams, until they end.",
    SECONDS,
    ["rpc"],
  ),
  rateLimited: counter("lattice_api_rate_limited_total", "Calls refused by a limit, by its option.", ["limit"]),
  agentCertificateEnd: gauge(
    "lattice_agent_certificate_end_timestamp_seconds",
    "Earliest expiry of the connected agents' certificates; 0 without certificates.",
    [],
  ),
  certificateRenewals: counter(
    "lattice_agent_certificates_total",
    "Certificates requested by agents, first or renewal, by result.",
    ["result"],
  ),
  certificateReloads: counter("lattice_tls_reloads_total", "Reloads of the certificate files, by result.", ["result"]),
  certificateEnd: gauge("lattice_tls_certificate_end_timestamp_seconds", "Expiry of this server's certificate.", []),
  agentsRefused: counter(
    "lattice_agents_refused_total",
    "Agents refused: no identity, or the identity of another node.",
    [],
  ),
  foreignRefused: counter(
    "lattice_foreign_cluster_refused_total",
    "Agents and servers refused because they belong to another cluster.",
    ["peer"],
  ),
  stalled: counter("lattice_api_streams_stalled_total", "Streams ended because the client stopped reading.", ["rpc"]),
  agents: gauge("lattice_agents_connected", "Agents with an open stream.", []),
});

const defineStateMetrics = ({ counter, gauge }: Definers) => ({
  events: counter("lattice_events_total", "Events of committed entries.", ["kind"]),
  allocations: gauge("lattice_allocations", "Allocations in the live state.", ["state"]),
  blocked: gauge("lattice_allocations_blocked", "Allocations that wait for a dependency.", []),
  onHold: gauge("lattice_allocations_held", "Pending allocations on hold, by their user or an administrator.", ["by"]),
  waitingElements: gauge("lattice_task_group_elements_waiting", "Elements of task groups not yet in the queue.", []),
  dags: gauge("lattice_dags", "DAGs in the live state.", ["state"]),
  nodes: gauge("lattice_nodes", "Registered nodes.", ["state"]),
  vniPool: gauge("lattice_network_vni_pool_size", "VNIs in the pool.", []),
  vniAvailable: gauge("lattice_network_vni_pool_available", "VNIs not assigned to a network domain.", []),
  vniUsed: gauge("lattice_network_vni_pool_used", "VNIs assigned to network domains.", []),
  deliveries: gauge("lattice_webhook_deliveries_waiting", "Webhook deliveries that are pending.", []),
  notices: gauge("lattice_notices_active", "Active notices.", ["kind"]),
});

const defineServerMetrics = ({ counter, gauge, histogram }: Definers) => ({
  appendSeconds: histogram("lattice_log_append_seconds", "Time until a batch was durable.", SECONDS, []),
  batchCommands: histogram("lattice_log_batch_commands", "Commands per batch written to the log.", BATCH, []),
  auditUnsigned: gauge(
    "lattice_audit_unsigned_records",
    "Audit records that are committed but not signed yet; above 0 for more than seconds, the key is missing.",
    [],
  ),
  jobKeys: gauge(
    "lattice_job_keys",
    "Keys that verify job tokens: the signing key and its unexpired predecessors.",
    [],
  ),
  historyWaiting: gauge("lattice_history_waiting", "Finished records not yet written to the history.", []),
  historyGap: gauge(
    "lattice_history_gap_entries",
    "Entries of the log whose archived records may be missing from this server's history.",
    [],
  ),
  membershipChanges: counter("lattice_membership_changes_total", "Members added and removed through this server.", [
    "change",
  ]),
  transfers: counter(
    "lattice_leadership_transfers_total",
    "Leadership transfers through this server, by whether the requested server took over.",
    ["result"],
  ),
  leading: gauge("lattice_leading", "1 on the server that leads.", []),
  backups: counter("lattice_backups_total", "Scheduled backups, by result.", ["result"]),
  backupBytes: gauge("lattice_backup_bytes", "Size of the newest scheduled backup.", []),
  backupTime: gauge("lattice_backup_written_timestamp_seconds", "Time of the newest scheduled backup.", []),
});

const defineWorkMetrics = ({ counter, gauge }: Definers) => ({
  outputWaiting: gauge("lattice_log_bytes_waiting", "Output on nodes that waits for the log store.", []),
  outputDropped: gauge(
    "lattice_log_bytes_dropped",
    "Output dropped by agents since their start, because the log store was unavailable for too long.",
    [],
  ),
  terminals: gauge("lattice_terminals_open", "Open terminals relayed by this server.", []),
  launches: counter("lattice_task_launches_total", "Task launches, by result.", ["result"]),
  launchesResumed: counter(
    "lattice_task_launches_resumed_total",
    "Launches of an earlier leader that this server resumed.",
    [],
  ),
  launchedTasks: counter("lattice_tasks_launched_total", "Tasks of finished launches.", []),
  scaled: counter("lattice_autoscaling_events_total", "Scaling changes of services, by direction and result.", [
    "direction",
    "result",
  ]),
  metricFailures: counter(
    "lattice_autoscaling_metric_query_failures_total",
    "Scaling evaluations of services whose metric had no value.",
    [],
  ),
  fabric: counter("lattice_fabric_requests_total", "Calls to the fabric manager, by operation and result.", [
    "operation",
    "result",
  ]),
  webhooks: counter("lattice_webhook_deliveries_total", "Webhook deliveries, by webhook and result.", [
    "hook",
    "result",
  ]),
});

/** The library has no typed access to the kind and the labels of a metric. */
function familyOf(metric: object): MetricFamily {
  const { name, help, labelNames = [] } = metric as { name: string; help: string; labelNames?: readonly string[] };
  const kind = metric instanceof Counter ? "counter" : metric instanceof Gauge ? "gauge" : "histogram";
  return { name, kind, help, labels: labelNames };
}

/** For a histogram: each bucket, the sum and the count, under the names of a scrape. */
const readingsOf = ({ name, values }: { name: string; values: readonly MetricValue[] }): Reading[] =>
  values.map(({ metricName, labels, value }) => ({
    name: metricName ?? name,
    labels: Object.fromEntries(Object.entries(labels).map(([key, label]) => [key, String(label)])),
    value,
  }));

interface MetricValue {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly metricName?: string;
}

function setAll(gauge: Gauge<"state">, byState: Readonly<Record<string, number>>): void {
  gauge.reset();
  for (const [state, count] of Object.entries(byState)) gauge.set({ state }, count);
}
