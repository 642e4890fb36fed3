// Settings of storage, limits and the systems around a cluster: output, sessions, audit, backups, webhooks, networks.

import { FIRST_VNI, GATEWAY_FORM, LAST_VNI, parseGateway } from "@lattice/core";
import { z } from "zod";
import { live, optional, setting } from "../schema/setting.ts";
import { choice, count, label, place, span, text, url } from "../schema/values.ts";

const s3 = {
  endpoint: optional(
    url("https://s3.example.com"),
    { unset: "AWS_ENDPOINT_URL, else that of the region", example: "https://s3.example.com" },
    "URL of the object store.",
  ),
  region: optional(
    text(),
    { unset: "AWS_REGION, else us-east-1", example: "us-east-1" },
    "Region of the object store.",
  ),
  access_key_id: optional(text(), { unset: "AWS_ACCESS_KEY_ID", example: "AKEXAMPLE" }, "Id of the access key."),
  secret_access_key: optional(
    text(),
    { unset: "AWS_SECRET_ACCESS_KEY", example: "vault://lattice/s3#key" },
    "Reference to the secret of the access key.",
  ),
};

export const logs = {
  store: optional(
    place(),
    { unset: "output stays on the nodes", example: "s3://lattice/logs" },
    "Store of the output of finished work: a directory on every node and server, or s3://bucket/prefix. Agents need the same value in their flags.",
  ),
  s3,
};

export const sessions = {
  idle_timeout: live(
    setting(span("0s", "1d"), "30m", "Time without input after which a terminal receives a warning; 0s: never."),
  ),
  keepalive_timeout: setting(
    span("1s", "1h"),
    "90s",
    "Time without a sign of life after which a terminal's client is gone.",
  ),
};

const MOST_CONCURRENT = 10_000;
const MOST_PER_MINUTE = 1_000_000;
const MOST_PER_SECOND = 1_000_000;
const concurrent = (preset: number, doc: string) => live(setting(count(1, MOST_CONCURRENT), preset, doc));
const perMinute = (preset: number, doc: string) => live(setting(count(0, MOST_PER_MINUTE), preset, doc));
const perSecond = (preset: number, doc: string) => live(setting(count(0, MOST_PER_SECOND), preset, doc));

export const rate_limits = {
  attach_max_concurrent: concurrent(5, "Open terminals per user."),
  // More at once are a loop in a script.
  launch_max_concurrent: concurrent(1_000, "Running launches of tasks per user."),
  stream_logs_max_concurrent: concurrent(10, "Followed outputs per user."),
  stream_metrics_max_concurrent: concurrent(5, "Followed metrics per user."),
  // Enough for a console in every window of a large group, and far below the capacity of a server.
  watch_max_concurrent: concurrent(2_000, "Every other stream per user, such as watched events."),
  // A page of a notebook or a dashboard opens some dozens; each takes two connections.
  proxy_max_concurrent: concurrent(200, "Proxied requests to services per user, each until its answer ends."),
  query_metrics_per_minute: perMinute(60, "Metric queries per user; 0: unlimited."),
  diagnostics_per_minute: perMinute(30, "Diagnostics per user; 0: unlimited."),
  compare_per_minute: perMinute(10, "Comparisons per user; 0: unlimited."),
  warm_cache_per_minute: perMinute(30, "Calls per user that bring an image to nodes; 0: unlimited."),
  // A script in a loop reaches some hundred calls a second; a server answers several thousand.
  user_requests_per_second: perSecond(1_000, "Calls of any kind per user, with authentication only; 0: unlimited."),
  tenant_requests_per_second: perSecond(3_000, "The same for all users of a tenant together."),
  tenants: live(
    setting(
      z.record(z.string().min(1), count(0, MOST_PER_SECOND)),
      {},
      "Calls per second of single tenants, for example { physics: 6000 }.",
    ),
  ),
  stalled_stream_timeout: live(
    setting(span("100ms", "1h"), "60s", "Time after which a stream that its client does not read is closed."),
  ),
};

export const audit = {
  retention: setting(
    span("1d", "36525d"),
    "2557d",
    "Age at which the files of a year are deleted; the default is seven years.",
  ),
};

export const accounting = {
  enabled: setting(
    z.boolean(),
    false,
    "Send usage to an external accounting system. This version supports none, so true is refused.",
  ),
};

export const backup = {
  destination: optional(
    place(),
    { unset: "no scheduled backups; on request <server.data_dir>/backups", example: "s3://lattice/backups" },
    "A directory, or s3://bucket/prefix.",
  ),
  interval: setting(span("0s", "3650d"), "1h", "Interval of the leader's backups; 0s: on request only."),
  retention: {
    all: setting(span("0s", "3650d"), "7d", "Age up to which every backup is kept."),
    daily: setting(span("0s", "3650d"), "30d", "Age up to which one backup a day is kept."),
    weekly: setting(span("0s", "3650d"), "90d", "Age up to which one backup a week is kept."),
  },
  s3,
};

const END_STATES = ["completed", "failed", "cancelled"] as const;

const webhook = z.strictObject({
  name: label("must be letters, digits, dots and dashes"),
  url: url("https://hooks.example.com/lattice"),
  secret: text().optional(),
  secret_file: text().optional(),
  secret_env: text().optional(),
  tenant: z.string().optional(),
  states: z.array(z.enum(END_STATES, { error: `must be among ${END_STATES.join(", ")}` })).default([...END_STATES]),
  notices: z.boolean().default(true),
});

export const notifications = {
  webhooks: setting(
    z.array(webhook).max(32),
    [],
    'Receivers of ended work and notices, such as { name: chat, url: "https://hooks.example.com/lattice", secret: "vault://lattice/hook" }. Each has one of secret (a reference), secret_file and secret_env, and optionally tenant, states (of completed, failed, cancelled) and notices (true or false).',
  ),
};

export const network = {
  vni_pool_start: setting(count(FIRST_VNI, LAST_VNI), FIRST_VNI, "First VNI of the pool for network domains."),
  vni_pool_end: setting(count(FIRST_VNI, LAST_VNI), 4_095, "Last VNI of the pool."),
  max_domains_per_tenant: setting(count(1, 1_000_000), 50, "Most named domains of a tenant."),
  grace_period: setting(span("0s", "7d"), "5m", "Time for which a domain without members keeps its VNI."),
  auto_domains: setting(
    z.boolean(),
    false,
    "Give work on several nodes, and work that exposes ports, a domain of its own.",
  ),
  driver: setting(
    choice(["none", "fabric_manager"], "must be none or fabric_manager"),
    "none",
    "none, or fabric_manager, which needs fabric.manager_url.",
  ),
  data_gateway: optional(
    z.string().refine((value) => parseGateway(value) !== null, GATEWAY_FORM),
    { unset: "none", example: "10.1.2.3:443" },
    "The only destination that sensitive domains reach: an IPv4 address and a port.",
  ),
};

export const telemetry = {
  store_url: optional(
    url("http://prometheus:9090"),
    { unset: "figures come from the agents", example: "http://prometheus:9090" },
    "A time-series store with the HTTP API of Prometheus, see docs/operating/time-series-store.md. tsdb_endpoint is another name of this key.",
  ),
};

const fabricPath = () =>
  z
    .string()
    .regex(
      /^(\/[\w.~-]+)+$/,
      "must begin with a slash, have no slash at its end and no query, for example /fabric/vnis",
    );

export const fabric = {
  manager_url: optional(
    url("https://fabric.example.com"),
    { unset: "no fabric manager", example: "https://fabric.example.com" },
    "URL of the fabric manager.",
  ),
  manager_token: optional(
    text(),
    { unset: "no token is sent", example: "vault://lattice/fabric" },
    "Reference to the bearer token of the fabric manager.",
  ),
  owner: setting(label(), "lattice", "Owner of the networks, where several clusters share a fabric."),
  timeout: setting(span("100ms", "60s"), "5s", "Time limit of one call."),
  services_path: setting(fabricPath(), "/fabric/cxi/services", "Path of credential services, below manager_url."),
  domains_path: setting(fabricPath(), "/fabric/vnis", "Path of network domains, below manager_url."),
};

export const tasks = {
  fence_star_nodes: setting(
    count(1, 1_000_000),
    128,
    "Launches on more nodes than this exchange PMI addresses between agents instead of through the server.",
  ),
};

export const compat = {
  set_slurm_env: live(
    setting(z.boolean(), false, "Set SLURM_* variables in addition to LATTICE_* for every allocation."),
  ),
};
