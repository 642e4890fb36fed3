// The limits of single RPCs as data, by the name of the method. The general limits apply to every call in addition.
// Terminals and launches are counted on the leader, where all of them pass.

import type { Config } from "../../base/config/index.ts";

/** Keys of `rate_limits` for rates. */
type RateKey = "queryMetricsPerMinute" | "diagnosticsPerMinute" | "comparePerMinute" | "warmCachePerMinute";
/** Keys of `rate_limits` for concurrent streams. */
type StreamKey = "streamLogsMaxConcurrent" | "streamMetricsMaxConcurrent" | "watchMaxConcurrent" | "proxyMaxConcurrent";

export type RpcLimit =
  | { readonly kind: "rate"; readonly key: RateKey; readonly option: string }
  | { readonly kind: "concurrent"; readonly key: StreamKey; readonly option: string };

const rate = (key: RateKey, option: string): RpcLimit => ({ kind: "rate", key, option });
const concurrent = (key: StreamKey, option: string): RpcLimit => ({ kind: "concurrent", key, option });

const diagnostics = rate("diagnosticsPerMinute", "diagnostics_per_minute");

const BY_METHOD: Readonly<Record<string, RpcLimit>> = {
  QueryMetrics: rate("queryMetricsPerMinute", "query_metrics_per_minute"),
  GetMetrics: rate("queryMetricsPerMinute", "query_metrics_per_minute"),
  GetDiagnostics: diagnostics,
  GetNetworkDiagnostics: diagnostics,
  GetStorageDiagnostics: diagnostics,
  CompareMetrics: rate("comparePerMinute", "compare_per_minute"),
  Compare: rate("comparePerMinute", "compare_per_minute"),
  // Each call makes nodes fetch an image, which may remove others from their caches.
  WarmCache: rate("warmCachePerMinute", "warm_cache_per_minute"),
  // Both read output through the node, which serves a limited number of readers.
  GetLogs: concurrent("streamLogsMaxConcurrent", "stream_logs_max_concurrent"),
  StreamLogs: concurrent("streamLogsMaxConcurrent", "stream_logs_max_concurrent"),
  StreamMetrics: concurrent("streamMetricsMaxConcurrent", "stream_metrics_max_concurrent"),
  // Requests to services, each for as long as its answer lasts.
  Proxy: concurrent("proxyMaxConcurrent", "proxy_max_concurrent"),
};

const OTHER_STREAMS = concurrent("watchMaxConcurrent", "watch_max_concurrent");

/** Returns `null` when only the general limits apply. */
export const unaryLimitOf = (rpc: string): RpcLimit | null => BY_METHOD[methodOf(rpc)] ?? null;
export const streamLimitOf = (rpc: string): RpcLimit => BY_METHOD[methodOf(rpc)] ?? OTHER_STREAMS;

/** For the page that lists every RPC. */
export function describeLimit(rpc: string, streams: boolean, limits: Config["rateLimits"]): string {
  if (methodOf(rpc) === "Attach") return `${limits.attachMaxConcurrent} at once`;
  if (methodOf(rpc) === "LaunchTasks") return `${limits.launchMaxConcurrent} at once`;
  const limit = streams ? streamLimitOf(rpc) : unaryLimitOf(rpc);
  if (limit === null) return "general";
  return limit.kind === "rate" ? `${limits[limit.key]} a minute` : `${limits[limit.key]} at once`;
}

const methodOf = (rpc: string): string => rpc.slice(rpc.indexOf(".") + 1);
