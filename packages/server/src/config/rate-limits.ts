// How often, and how many at once. The figures of the observability chapter are per user; the two general
// ones keep one user, and one tenant, from taking a whole server for themselves. 0 means no bound where a
// rate is meant.

import { type Duration, seconds } from "@lattice/core";
import { z } from "zod";
import { count, section, span } from "./fields.ts";

export interface RateLimits {
  /** Terminals that one user may have open. */
  readonly attachMaxConcurrent: number;
  readonly streamLogsMaxConcurrent: number;
  readonly streamMetricsMaxConcurrent: number;
  /** Every other stream, such as watching events. */
  readonly watchMaxConcurrent: number;
  /** Requests to services through the server, each until its answer has ended. */
  readonly proxyMaxConcurrent: number;
  readonly queryMetricsPerMinute: number;
  readonly diagnosticsPerMinute: number;
  readonly comparePerMinute: number;
  /** Calls of any kind; only where callers have identities. */
  readonly userRequestsPerSecond: number;
  readonly tenantRequestsPerSecond: number;
  /** Tenants with a figure of their own. */
  readonly tenants: Readonly<Record<string, number>>;
  /** A stream that nobody reads for so long is ended. */
  readonly stalledStreamTimeout: Duration;
}

const MOST_CONCURRENT = 10_000;
const MOST_PER_MINUTE = 1_000_000;
const MOST_PER_SECOND = 1_000_000;

export const rateLimitsSection = section({
  attach_max_concurrent: count(1, MOST_CONCURRENT).default(5),
  stream_logs_max_concurrent: count(1, MOST_CONCURRENT).default(10),
  stream_metrics_max_concurrent: count(1, MOST_CONCURRENT).default(5),
  // A console in every window of a large group; far below what a server carries.
  watch_max_concurrent: count(1, MOST_CONCURRENT).default(2_000),
  // A page of a notebook or a dashboard has some dozens open; each holds two connections.
  proxy_max_concurrent: count(1, MOST_CONCURRENT).default(200),
  query_metrics_per_minute: count(0, MOST_PER_MINUTE).default(60),
  diagnostics_per_minute: count(0, MOST_PER_MINUTE).default(30),
  compare_per_minute: count(0, MOST_PER_MINUTE).default(10),
  // A script in a loop reaches some hundred calls a second; a server answers several thousand.
  user_requests_per_second: count(0, MOST_PER_SECOND).default(1_000),
  tenant_requests_per_second: count(0, MOST_PER_SECOND).default(3_000),
  tenants: z.record(z.string().min(1), count(0, MOST_PER_SECOND)).default({}),
  stalled_stream_timeout: span({ least: seconds(0.1), most: seconds(3_600), preset: "60s" }),
});

export const completeRateLimits = (file: z.output<typeof rateLimitsSection>): RateLimits => ({
  attachMaxConcurrent: file.attach_max_concurrent,
  streamLogsMaxConcurrent: file.stream_logs_max_concurrent,
  streamMetricsMaxConcurrent: file.stream_metrics_max_concurrent,
  watchMaxConcurrent: file.watch_max_concurrent,
  proxyMaxConcurrent: file.proxy_max_concurrent,
  queryMetricsPerMinute: file.query_metrics_per_minute,
  diagnosticsPerMinute: file.diagnostics_per_minute,
  comparePerMinute: file.compare_per_minute,
  userRequestsPerSecond: file.user_requests_per_second,
  tenantRequestsPerSecond: file.tenant_requests_per_second,
  tenants: file.tenants,
  stalledStreamTimeout: file.stalled_stream_timeout,
});
