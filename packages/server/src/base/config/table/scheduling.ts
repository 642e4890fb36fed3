// Settings of the scheduler and the controllers: queues, nodes, faults, retention and checkpoints. Most are live, because the
// leader reads them whenever it decides.

import { normalize } from "node:path";
import {
  DEFAULT_DAG_MEMBERS,
  FAULTS_TO_QUARANTINE,
  LEDGER_DAYS,
  MAX_DAG_MEMBERS,
  MAX_FAULTS,
  MAX_KEPT_CHECKPOINTS,
  MAX_POOL_SIZE,
  MAX_PROLOGUE_RETRIES,
  MAX_QUARANTINED_PERCENT,
  MAX_QUICK_FAILURE,
  MAX_STORAGE_MBPS,
} from "@lattice/core";
import { z } from "zod";
import { live, optional, setting } from "../schema/setting.ts";
import { amount, choice, count, isLoopback, place, span, text } from "../schema/values.ts";

export const scheduling = {
  min_cycle_ms: live(setting(count(0, 60_000), 2, "Shortest time between two cycles of a vCluster, in milliseconds.")),
  backfill_depth: live(
    setting(count(0, 1_000), 1, "Reservations per cycle, for vClusters created without a figure of their own."),
  ),
  budget_period_days: setting(
    count(1, LEDGER_DAYS),
    LEDGER_DAYS,
    `Rolling window of the tenants' budgets, in days; at most ${LEDGER_DAYS}.`,
  ),
  max_dag_size: live(
    setting(count(1, MAX_DAG_MEMBERS), DEFAULT_DAG_MEMBERS, `Most members of one DAG, at most ${MAX_DAG_MEMBERS}.`),
  ),
  impossible_requests: live(
    setting(
      choice(["refuse", "warn"]),
      "refuse",
      "What happens to a request that no nodes of the cluster satisfy. warn: accept it with a warning, where nodes join later.",
    ),
  ),
  storage_mb_per_second: optional(
    count(1, MAX_STORAGE_MBPS),
    { unset: "unlimited", example: 200_000 },
    "Bandwidth of the storage, shared by all running work.",
  ),
  sensitive_pool_size: live(
    optional(
      count(0, MAX_POOL_SIZE),
      { unset: "unlimited", example: 32 },
      "Most nodes that all sensitive vClusters together may hold; checked at every placement.",
    ),
  ),
};

export const scheduler = {
  // A path is short for `true` and that trace_path.
  trace_capture: live(
    setting(
      z.union([z.boolean(), text()]),
      false,
      "Let the leader capture a trace of the cluster, which rm-replay reads.",
    ),
  ),
  trace_path: live(
    optional(
      place().refine((value) => !normalize(value).startsWith(".."), { error: "leads out of the data folder" }),
      { unset: "trace.jsonl", example: "s3://lattice/traces" },
      "Where the trace goes: an absolute path, a name below <server.data_dir>/traces, or s3://bucket/prefix with the credentials of backup.s3.",
    ),
  ),
  fingerprint_window_days: setting(
    count(0, 3_650),
    7,
    "Age in days after which a node's fingerprint counts as unknown, so that the node is used last. Agents send it every six hours. 0: never.",
  ),
};

/** Where a node is reached. Loopback would be the server itself. */
const nodeAddress = z
  .string()
  .regex(
    /^[A-Za-z0-9_][A-Za-z0-9._:-]{0,252}$|^[0-9a-f:.]{2,45}$/i,
    "must be an address or a host name, without a port",
  )
  .refine((host) => !isLoopback(host), "must not be a loopback address");

export const node_agent = {
  addresses: setting(
    z.record(z.string().min(1), nodeAddress),
    {},
    "Addresses of nodes that differ from those of their agents' connections, for example { n1: 10.0.0.11 }: behind address translation, or where an agent runs on a server's machine.",
  ),
  heartbeat_interval: setting(span("100ms", "10m"), "10s", "Interval between the heartbeats of an agent."),
  heartbeat_timeout: live(
    setting(
      span("200ms", "1h"),
      "30s",
      "A node without heartbeats for this long is degraded. Must be longer than heartbeat_interval.",
    ),
  ),
  grace_period: live(
    setting(span("0s", "1d"), "60s", "A node that stays degraded for this long is down, and its work is requeued."),
  ),
  borrowed_grace_period: live(
    setting(
      span("0s", "1d"),
      "30s",
      "The grace period of nodes that a vCluster lends to another, where it is shorter.",
    ),
  ),
  sensitive_heartbeat_timeout: live(
    setting(span("200ms", "1d"), "2m", "The heartbeat timeout of nodes of sensitive vClusters, where it is longer."),
  ),
  sensitive_grace_period: live(
    setting(span("0s", "7d"), "5m", "The grace period of nodes of sensitive vClusters, where it is longer."),
  ),
};

export const faults = {
  failures_to_quarantine: live(
    setting(count(1, MAX_FAULTS), FAULTS_TO_QUARANTINE, "Failures of different work in a row that quarantine a node."),
  ),
  quick_failure: live(
    setting(span("0s", `${MAX_QUICK_FAILURE}ms`), "10s", "Work that fails within this time counts against its node."),
  ),
  prologue_retries: live(
    setting(
      count(0, 100),
      MAX_PROLOGUE_RETRIES,
      "Retries on other nodes when a node could not be prepared for an attempt.",
    ),
  ),
  quarantine_max_percent: live(
    setting(count(0, 100), MAX_QUARANTINED_PERCENT, "Most nodes that may be in quarantine at once, in percent."),
  ),
  probation: live(setting(span("1s", "30d"), "10m", "Time in quarantine before a node is tried again.")),
  drift_remediation_timeout: live(
    setting(span("1s", "365d"), "24h", "Time to repair a node whose configuration drifted before it is quarantined."),
  ),
  sensitive_drift_remediation_timeout: live(
    setting(span("1s", "365d"), "4h", "The same for nodes of sensitive vClusters."),
  ),
};

export const retention = {
  max_finished: live(
    setting(
      count(0, 1_000_000),
      10_000,
      "Finished allocations in the state; older ones move to the history and stay readable.",
    ),
  ),
  max_finished_age: live(setting(span("1s", "3650d"), "7d", "The same by age.")),
};

export const checkpoint = {
  evaluation_interval: live(
    setting(span("100ms", "1h"), "45s", "Interval at which the broker evaluates running allocations."),
  ),
  storage_gb_per_second: live(setting(amount(0.001, 1_000_000), 10, "Bandwidth that all checkpoints share.")),
  gpu_memory_gb: live(setting(amount(0, 100_000), 80, "Memory of one GPU: the size of its part of a checkpoint.")),
  node_mtbf_hours: live(setting(amount(0.001, 10_000_000), 6_000, "Mean time between failures of one node.")),
  storage_seconds_per_gb: live(setting(amount(0, 1_000_000), 0.02, "Cost of storing a gigabyte, in node-seconds.")),
  keep: live(setting(count(0, MAX_KEPT_CHECKPOINTS), 3, "Complete checkpoints kept per allocation; 0: all.")),
  retention: live(
    setting(
      span("0s", "3650d"),
      "7d",
      "Time after the end of an allocation until its checkpoints are deleted; 0s: never.",
    ),
  ),
  quiet_interval: live(
    setting(
      span("100ms", "365d"),
      "6h",
      "An allocation without a checkpoint for this long is asked for one where it costs little.",
    ),
  ),
};
