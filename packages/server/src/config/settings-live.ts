// The settings that can be changed for the whole cluster while servers run: whoever goes by one of them reads it when it is needed.

import type { Config } from "./config.ts";
import { type KnownSetting, span } from "./setting.ts";
import { CHECKPOINT_SETTINGS, FAULT_SETTINGS } from "./settings-controllers.ts";
import { TRACE_SETTINGS } from "./settings-trace.ts";

const RATE_LIMITS = [
  ["attach_max_concurrent", "attachMaxConcurrent"],
  ["stream_logs_max_concurrent", "streamLogsMaxConcurrent"],
  ["stream_metrics_max_concurrent", "streamMetricsMaxConcurrent"],
  ["watch_max_concurrent", "watchMaxConcurrent"],
  ["proxy_max_concurrent", "proxyMaxConcurrent"],
  ["query_metrics_per_minute", "queryMetricsPerMinute"],
  ["diagnostics_per_minute", "diagnosticsPerMinute"],
  ["compare_per_minute", "comparePerMinute"],
  ["user_requests_per_second", "userRequestsPerSecond"],
  ["tenant_requests_per_second", "tenantRequestsPerSecond"],
] as const;

export const LIVE_SETTINGS: readonly KnownSetting[] = [
  {
    key: "api.auto_create_tenants",
    read: ({ api }) => api.autoCreateTenants,
    write: (config, { api }) => ({
      ...config,
      api: { ...config.api, autoCreateTenants: api.auto_create_tenants ?? config.api.autoCreateTenants },
    }),
  },
  {
    key: "scheduling.min_cycle_ms",
    read: ({ scheduling }) => scheduling.minCycleMs,
    write: (config, file) => withScheduling(config, { minCycleMs: file.scheduling.min_cycle_ms }),
  },
  {
    key: "scheduling.backfill_depth",
    read: ({ scheduling }) => scheduling.backfillDepth,
    write: (config, file) => withScheduling(config, { backfillDepth: file.scheduling.backfill_depth }),
  },
  {
    key: "scheduling.max_dag_size",
    read: ({ scheduling }) => scheduling.maxDagSize,
    write: (config, file) => withScheduling(config, { maxDagSize: file.scheduling.max_dag_size }),
  },
  {
    key: "scheduling.sensitive_pool_size",
    read: ({ scheduling }) => scheduling.sensitivePoolSize,
    write: (config, file) => withScheduling(config, { sensitivePoolSize: file.scheduling.sensitive_pool_size ?? null }),
  },
  {
    key: "node_agent.heartbeat_timeout",
    read: ({ nodeAgent }) => span(nodeAgent.heartbeatTimeout),
    write: (config, file) => withAgent(config, { heartbeatTimeout: file.node_agent.heartbeat_timeout }),
  },
  {
    key: "node_agent.grace_period",
    read: ({ nodeAgent }) => span(nodeAgent.gracePeriod),
    write: (config, file) => withAgent(config, { gracePeriod: file.node_agent.grace_period }),
  },
  {
    key: "node_agent.borrowed_grace_period",
    read: ({ nodeAgent }) => span(nodeAgent.borrowedGracePeriod),
    write: (config, file) => withAgent(config, { borrowedGracePeriod: file.node_agent.borrowed_grace_period }),
  },
  {
    key: "node_agent.sensitive_heartbeat_timeout",
    read: ({ nodeAgent }) => span(nodeAgent.sensitiveHeartbeatTimeout),
    write: (config, file) =>
      withAgent(config, { sensitiveHeartbeatTimeout: file.node_agent.sensitive_heartbeat_timeout }),
  },
  {
    key: "node_agent.sensitive_grace_period",
    read: ({ nodeAgent }) => span(nodeAgent.sensitiveGracePeriod),
    write: (config, file) => withAgent(config, { sensitiveGracePeriod: file.node_agent.sensitive_grace_period }),
  },
  ...TRACE_SETTINGS,
  ...FAULT_SETTINGS,
  ...CHECKPOINT_SETTINGS,
  {
    key: "retention.max_finished",
    read: ({ retention }) => retention.maxFinished,
    write: (config, file) => withRetention(config, { maxFinished: file.retention.max_finished }),
  },
  {
    key: "retention.max_finished_age",
    read: ({ retention }) => span(retention.maxFinishedAge),
    write: (config, file) => withRetention(config, { maxFinishedAge: file.retention.max_finished_age }),
  },
  {
    key: "sessions.idle_timeout",
    read: ({ sessions }) => span(sessions.idleTimeout),
    write: (config, file) => ({ ...config, sessions: { ...config.sessions, idleTimeout: file.sessions.idle_timeout } }),
  },
  ...RATE_LIMITS.map(
    ([name, field]): KnownSetting => ({
      key: `rate_limits.${name}`,
      read: ({ rateLimits }) => rateLimits[field],
      write: (config, file) => withLimits(config, { [field]: file.rate_limits[name] }),
    }),
  ),
  {
    key: "rate_limits.tenants",
    read: ({ rateLimits }) => rateLimits.tenants,
    write: (config, file) => withLimits(config, { tenants: file.rate_limits.tenants }),
  },
  {
    key: "rate_limits.stalled_stream_timeout",
    read: ({ rateLimits }) => span(rateLimits.stalledStreamTimeout),
    write: (config, file) => withLimits(config, { stalledStreamTimeout: file.rate_limits.stalled_stream_timeout }),
  },
  {
    key: "compat.set_slurm_env",
    read: ({ compat }) => compat.setSlurmEnv,
    write: (config, file) => ({ ...config, compat: { ...config.compat, setSlurmEnv: file.compat.set_slurm_env } }),
  },
  {
    key: "log.level",
    read: ({ log }) => log.level,
    write: (config, file) => ({ ...config, log: { ...config.log, level: file.log.level } }),
  },
];

const withScheduling = (config: Config, change: Partial<Config["scheduling"]>): Config => ({
  ...config,
  scheduling: { ...config.scheduling, ...change },
});
const withAgent = (config: Config, change: Partial<Config["nodeAgent"]>): Config => ({
  ...config,
  nodeAgent: { ...config.nodeAgent, ...change },
});
const withRetention = (config: Config, change: Partial<Config["retention"]>): Config => ({
  ...config,
  retention: { ...config.retention, ...change },
});
const withLimits = (config: Config, change: Partial<Config["rateLimits"]>): Config => ({
  ...config,
  rateLimits: { ...config.rateLimits, ...change },
});
