// Keys in the documentation of the system: each is known, by its main name or an alias, or is refused with a hint.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { ConfigError, loadConfig } from "../../../src/base/config/index.ts";

const dir = mkdtempSync(join(tmpdir(), "lattice-names-"));
afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));

function load(document: object) {
  const path = join(dir, "server.yaml");
  writeFileSync(path, stringify(document));
  return loadConfig(path);
}

function problemsOf(document: object): readonly string[] {
  try {
    load(document);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
}

/** One key with its value, as a document. */
const documentOf = (key: string, value: unknown): object =>
  key
    .split(".")
    .reverse()
    .reduce<unknown>((inner, name) => ({ [name]: inner }), value) as object;

describe("accepted", () => {
  const taken: readonly (readonly [key: string, value: unknown, beside?: object])[] = [
    ["quorum.node_id", 1],
    ["quorum.data_dir", "/var/lib/lattice/raft"],
    ["quorum.peers", [{ id: 2, address: "lattice-02:9000" }]],
    ["api.grpc_listen", "127.0.0.1:50051"],
    ["api.rest_listen", "127.0.0.1:8080"],
    ["api.oidc_issuer", "https://id.example.com/realms/hpc", { oidc_client_id: "lattice" }],
    ["api.oidc_client_id", "lattice"],
    ["api.tls_cert", "server.crt", { tls_key: "server.key" }],
    ["api.tls_key", "server.key", { tls_cert: "server.crt" }],
    ["api.tls_ca", "ca.crt", { tls_cert: "server.crt", tls_key: "server.key" }],
    ["telemetry.tsdb_endpoint", "http://victoriametrics:8428"],
    ["node_agent.heartbeat_interval", "10s"],
    ["node_agent.heartbeat_timeout", "30s"],
    ["node_agent.grace_period", "60s"],
    ["node_agent.sensitive_grace_period", "5m"],
    ["network.vni_pool_start", 1_000],
    ["network.vni_pool_end", 4_095],
    ["network.grace_period", "5m"],
    ["network.max_domains_per_tenant", 50],
    ["checkpoint.evaluation_interval", "45s"],
    ["scheduling.backfill_depth", 10],
    ["scheduling.max_dag_size", 2_000],
    ["scheduling.budget_period_days", 90],
    ["scheduler.trace_capture", true],
    ["scheduler.trace_path", "s3://lattice-traces/"],
    ["accounting.enabled", false],
    ["rate_limit.attach_max_concurrent", 10],
    ["rate_limits.attach_max_concurrent", 10],
    ["rate_limit.query_metrics_per_minute", 120],
    ["rate_limits.query_metrics_per_minute", 120],
    ["compat.set_slurm_env", true],
  ];

  test.each(taken.map(([key, value, beside]) => ({ key, value, beside })))("$key", ({ key, value, beside = {} }) => {
    const [section = ""] = key.split(".");
    const document = documentOf(key, value) as Record<string, object>;
    expect(problemsOf({ ...document, [section]: { ...document[section], ...beside } })).toEqual([]);
  });
});

describe("refused, with a hint", () => {
  test.each<readonly [string, unknown, RegExp]>([
    ["api.oidc_hmac_secret", "dev-secret-only", /env:\/\/NAME/],
    ["storage.s3_endpoint", "https://s3.example.com", /logs\.store/],
    ["storage.nfs_path", "/nfs", /logs\.store/],
    ["federation.enabled", true, /does not support federation/],
    ["accounting.enabled", true, /does not support accounting systems/],
    ["accounting.provider", "waldur", /does not support accounting systems/],
    ["accounting.waldur.api_url", "https://waldur.example.com/api/", /does not support accounting systems/],
    ["accounting.waldur.token_secret_ref", "env://NOT_THERE", /does not support accounting systems/],
    ["accounting.waldur.push_interval_seconds", 60, /does not support accounting systems/],
    ["accounting.waldur.buffer_size", 10_000, /does not support accounting systems/],
    ["accounting.waldur.disk_buffer_path", "/var/lib/lattice/accounting-wal", /does not support accounting systems/],
    ["accounting.waldur.disk_buffer_max_events", 100_000, /does not support accounting systems/],
    ["waldur.token_secret_ref", "env://NOT_THERE", /does not support accounting systems/],
    ["vast.credentials_ref", "env://NOT_THERE", /does not support storage appliances/],
    ["telemetry.prod_interval_seconds", 30, /heartbeat_interval/],
    ["telemetry.mode", "prod", /lattice telemetry/],
    ["quorum.bind_network", "hsn", /api\.grpc_listen/],
    ["node_agent.bind_network", "hsn", /--peer-listen/],
    ["raft.snapshot_retention_count", 5, /last 5/],
    ["sensitive.wipe_timeout", "30m", /does not wipe nodes/],
    ["partition_mapping", { normal: "hpc-batch" }, /etc\/lattice\/compat\.yaml/],
    ["qos_mapping", { low: 1 }, /etc\/lattice\/compat\.yaml/],
  ])("%s", (key, value, words) => {
    const problems = problemsOf(documentOf(key, value));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(words);
  });
});

describe("an alias", () => {
  test("an alias means the same as the main name", () => {
    const named = (document: object) => load(document).rateLimits;
    expect(named({ rate_limit: { attach_max_concurrent: 7 } })).toEqual(
      named({ rate_limits: { attach_max_concurrent: 7 } }),
    );
    expect(load({ telemetry: { tsdb_endpoint: "http://store:8428" } }).telemetry.storeUrl).toBe("http://store:8428");
    expect(load({ rate_limit: null }).rateLimits.attachMaxConcurrent).toBe(5);
  });

  test("an alias together with the main name is refused", () => {
    expect(problemsOf({ rate_limit: { compare_per_minute: 1 }, rate_limits: { compare_per_minute: 2 } })).toEqual([
      "rate_limit: is an alias of rate_limits: use one of them",
    ]);
    expect(problemsOf({ telemetry: { tsdb_endpoint: "http://a:1", store_url: "http://b:1" } })).toEqual([
      "telemetry.tsdb_endpoint: is an alias of telemetry.store_url: use one of them",
    ]);
  });

  test("a misspelt key below an alias is reported", () => {
    expect(problemsOf({ rate_limit: { attach_max: 7 } })[0]).toMatch(
      /^rate_limits\.attach_max: .*attach_max_concurrent/,
    );
  });
});
