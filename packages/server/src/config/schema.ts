// The shape of the configuration file, section by section, with every default and bound. Objects
// are strict: a key that is not here is refused by name. Rules between sections are at the end.

import {
  DEFAULT_DAG_MEMBERS,
  LEDGER_DAYS,
  MAX_DAG_MEMBERS,
  MAX_POOL_SIZE,
  MAX_STORAGE_MBPS,
  seconds,
} from "@lattice/core";
import { z } from "zod";
import { accountingProblems, accountingSection } from "./accounting.ts";
import { auditSection } from "./audit.ts";
import { authFields, authProblems, completeAuth } from "./auth.ts";
import { backupProblems, backupSection } from "./backup.ts";
import { checkpointSection } from "./checkpoint.ts";
import { ACCESS_MODES, LOG_LEVELS } from "./config.ts";
import { fabricProblems, fabricSection } from "./fabric.ts";
import { faultsSection } from "./faults.ts";
import { count, listen, listenIfStated, section, span } from "./fields.ts";
import { logsProblems, logsSection } from "./logs.ts";
import { networkProblems, networkSection } from "./network.ts";
import { notificationsProblems, notificationsSection } from "./notifications.ts";
import { originFields, originProblems } from "./origins.ts";
import { quorumProblems, quorumSection } from "./quorum.ts";
import { rateLimitsSection } from "./rate-limits.ts";
import { tlsFields, tlsProblems } from "./tls.ts";
import { tracePath } from "./trace.ts";

const DAY_S = 86_400;

export const fileSchema = section({
  server: section({
    id: z
      .string()
      .regex(/^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/i, "must be letters, digits, dots and dashes, at most 63")
      .optional(),
    data_dir: z.string().min(1).default("lattice-data"),
    production: z.boolean().default(false),
  }),
  quorum: quorumSection,
  api: section({
    grpc_listen: listen("127.0.0.1:50051"),
    rest_listen: listen("127.0.0.1:8080"),
    advertise_grpc: listenIfStated(),
    allow_unauthenticated: z.boolean().default(false),
    auto_create_tenants: z.boolean().optional(),
    headers_timeout: span({ least: seconds(0.2), most: seconds(600), preset: "20s" }),
    request_timeout: span({ least: seconds(0.2), most: seconds(3_600), preset: "60s" }),
    token_recheck_interval: span({ least: seconds(0.1), most: seconds(3_600), preset: "5m" }),
    proxy_answer_timeout: span({ least: seconds(0.1), most: seconds(3_600), preset: "60s" }),
    ...authFields,
    ...originFields,
    ...tlsFields,
  }),
  scheduling: section({
    min_cycle_ms: count(0, 60_000).default(2),
    backfill_depth: count(0, 1_000).default(10),
    budget_period_days: count(1, LEDGER_DAYS).default(LEDGER_DAYS),
    max_dag_size: count(1, MAX_DAG_MEMBERS).default(DEFAULT_DAG_MEMBERS),
    storage_mb_per_second: count(1, MAX_STORAGE_MBPS).optional(),
    sensitive_pool_size: count(0, MAX_POOL_SIZE).optional(),
  }),
  scheduler: section({
    // A path is the same as true and that trace_path.
    trace_capture: z.union([z.boolean(), z.string().min(1)]).default(false),
    trace_path: tracePath.optional(),
    // Agents tell theirs every six hours; 0: never too old.
    fingerprint_window_days: count(0, 3_650).default(7),
  }),
  node_agent: section({
    heartbeat_interval: span({ least: seconds(0.1), most: seconds(600), preset: "10s" }),
    heartbeat_timeout: span({ least: seconds(0.2), most: seconds(3_600), preset: "30s" }),
    grace_period: span({ least: seconds(0), most: seconds(DAY_S), preset: "60s" }),
    borrowed_grace_period: span({ least: seconds(0), most: seconds(DAY_S), preset: "30s" }),
    sensitive_heartbeat_timeout: span({ least: seconds(0.2), most: seconds(DAY_S), preset: "2m" }),
    sensitive_grace_period: span({ least: seconds(0), most: seconds(7 * DAY_S), preset: "5m" }),
  }),
  faults: faultsSection,
  retention: section({
    max_finished: count(0, 1_000_000).default(10_000),
    max_finished_age: span({ least: seconds(1), most: seconds(3_650 * DAY_S), preset: "7d" }),
  }),
  checkpoint: checkpointSection,
  logs: logsSection,
  sessions: section({
    idle_timeout: span({ least: seconds(0), most: seconds(DAY_S), preset: "30m" }),
    keepalive_timeout: span({ least: seconds(1), most: seconds(3_600), preset: "90s" }),
  }),
  rate_limits: rateLimitsSection,
  audit: auditSection,
  accounting: accountingSection,
  backup: backupSection,
  notifications: notificationsSection,
  network: networkSection,
  telemetry: section({
    store_url: z.url({ protocol: /^https?$/, error: "is not a URL, for example http://prometheus:9090" }).optional(),
  }),
  fabric: fabricSection,
  tasks: section({ fence_star_nodes: count(1, 1_000_000).default(128) }),
  compat: section({ set_slurm_env: z.boolean().default(false) }),
  log: section({
    level: z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(", ")}` }).default("info"),
    /** Where callers have identities: all. */
    access: z.enum(ACCESS_MODES, { error: `must be one of ${ACCESS_MODES.join(", ")}` }).optional(),
  }),
}).superRefine((file, context) => {
  const refuse = (path: string[], message: string) => context.addIssue({ code: "custom", path, message });
  for (const { path, message } of quorumProblems(file.quorum)) refuse(["quorum", ...path], message);
  for (const { path, message } of authProblems(file.api, process.env)) refuse(["api", ...path], message);
  const { kind } = completeAuth(file.api, process.env);
  for (const { path, message } of originProblems(file.api, kind)) refuse(["api", ...path], message);
  for (const { path, message } of tlsProblems(file.api)) refuse(["api", ...path], message);
  for (const { path, message } of backupProblems(file.backup, process.env)) refuse(["backup", ...path], message);
  for (const { path, message } of accountingProblems(file.accounting)) refuse(["accounting", ...path], message);
  for (const { path, message } of logsProblems(file.logs, process.env)) refuse(["logs", ...path], message);
  for (const { path, message } of networkProblems(file.network, file.fabric.manager_url))
    refuse(["network", ...path], message);
  for (const { path, message } of notificationsProblems(file.notifications, process.env))
    refuse(["notifications", ...path], message);
  for (const { path, message } of fabricProblems(file.fabric, process.env)) refuse(["fabric", ...path], message);
  if (file.node_agent.heartbeat_timeout <= file.node_agent.heartbeat_interval)
    refuse(["node_agent", "heartbeat_timeout"], "must be longer than node_agent.heartbeat_interval");
  if (file.server.production && file.api.auto_create_tenants === true)
    refuse(["api", "auto_create_tenants"], "must not be true when server.production is true");
  if (file.server.production && file.quorum.engine === "memory")
    refuse(
      ["quorum", "engine"],
      "memory keeps nothing through a restart; it is refused when server.production is true",
    );
});

export type ParsedFile = z.output<typeof fileSchema>;
