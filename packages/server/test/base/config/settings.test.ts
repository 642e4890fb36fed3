// Values of settings as administrators see them: every key, in force, with its source, and without secrets.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { type ConfigOverrides, loadConfig } from "../../../src/base/config/index.ts";
import { withSetting } from "../../../src/base/config/live.ts";
import { IS_SET, masked, shownValue } from "../../../src/base/config/shown.ts";
import { SETTINGS } from "../../../src/base/config/table/index.ts";

const dir = mkdtempSync(join(tmpdir(), "lattice-settings-"));
afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));
afterEach(() => vi.unstubAllEnvs());

function load(yaml: string, flags: ConfigOverrides = {}) {
  const path = join(dir, "server.yaml");
  writeFileSync(path, yaml);
  return loadConfig(path, flags);
}

function shown(config: ReturnType<typeof loadConfig>, key: string): unknown {
  if (!SETTINGS.has(key)) throw new Error(`no setting ${key}`);
  return JSON.parse(shownValue(config, key));
}

test("every setting has a value", () => {
  const config = loadConfig(null);
  const keys = [...SETTINGS.keys()];
  for (const key of keys) expect(() => JSON.parse(shownValue(config, key))).not.toThrow();
  for (const section of ["api", "quorum", "telemetry", "logs", "audit", "backup", "network", "notifications"])
    expect(keys.some((key) => key.startsWith(`${section}.`))).toBe(true);
});

test("a shown value is the value in force, with derived defaults", () => {
  const config = load(
    "server: { data_dir: here }\nquorum: { node_id: 7 }\nbackup: { retention: { daily: 40d } }\nnetwork: { vni_pool_end: 2000 }",
  );
  expect(shown(config, "server.id")).toBe("server-7");
  expect(shown(config, "quorum.data_dir")).toBe(join(resolve("here"), "log"));
  expect(shown(config, "backup.retention.daily")).toBe("40d");
  expect(shown(config, "backup.retention.weekly")).toBe("90d");
  expect(shown(config, "network.vni_pool_end")).toBe(2_000);
  expect(shown(config, "api.tls_cert")).toBeNull();
  expect(shown(config, "accounting.enabled")).toBe(false);
});

test("each value has its source", () => {
  vi.stubEnv("AWS_REGION", "eu-north-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKFROMENVIRONMENT");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "from the environment");
  const { stated } = load("log: { level: warn }\napi: { request_timeout: 30s }", { log: { level: "debug" } });
  expect(stated["log.level"]).toEqual({ source: "flag", value: '"debug"' });
  expect(stated["api.request_timeout"]).toEqual({ source: "file", value: '"30s"' });
  expect(stated["api.headers_timeout"]).toEqual({ source: "default", value: '"20s"' });
  expect(stated["backup.s3.region"]).toEqual({ source: "environment", value: '"eu-north-1"' });
  expect(stated["logs.s3.secret_access_key"]).toEqual({ source: "environment", value: JSON.stringify(IS_SET) });
});

test("no secret is shown, whatever its source", () => {
  const secrets = {
    hmac: "hmac-secret-of-at-least-thirty-two-characters",
    hook: "hook-secret-sixteen",
    s3: "s3-secret",
    id: "AKEXAMPLE",
    path: "T0000-path-secret",
    password: "store-password",
    query: "query-secret",
  };
  vi.stubEnv("LATTICE_OIDC_HMAC_SECRET", secrets.hmac);
  vi.stubEnv("FABRIC_TOKEN", "fabric-token-value");
  vi.stubEnv("STORE_SECRET", secrets.s3);
  vi.stubEnv("HOOK_SECRET", secrets.hook);
  const config = load(`
fabric: { manager_url: "https://fabric.example.com", manager_token: "env://FABRIC_TOKEN" }
backup: { s3: { access_key_id: ${secrets.id}, secret_access_key: "env://STORE_SECRET" } }
logs: { s3: { access_key_id: ${secrets.id}, secret_access_key: "env://STORE_SECRET" } }
telemetry: { store_url: "https://reader:${secrets.password}@store.example.com/prom?key=${secrets.query}" }
notifications:
  webhooks:
    - { name: chat, url: "https://hooks.example.com/services/${secrets.path}", secret: "env://HOOK_SECRET" }
    - { name: other, url: "https://hooks.example.com/x", secret_env: LATTICE_OIDC_HMAC_SECRET }`);
  const lines = Array.from(SETTINGS.keys(), (key) => `${key}=${shownValue(config, key)}`);
  for (const secret of [...Object.values(secrets), "fabric-token-value"])
    expect(lines.filter((line) => line.includes(secret))).toEqual([]);
  expect(shown(config, "api.oidc_hmac_secret")).toBe(IS_SET);
  expect(shown(config, "backup.s3.secret_access_key")).toBe("env://STORE_SECRET");
  expect(shown(config, "logs.s3.access_key_id")).toBe(IS_SET);
  expect(shown(config, "fabric.manager_token")).toBe("env://FABRIC_TOKEN");
  expect(shown(config, "telemetry.store_url")).toBe("https://store.example.com/prom (set)");
  expect(shown(config, "notifications.webhooks")).toMatchObject([
    { name: "chat", url: "https://hooks.example.com/(set)", secret: "env://HOOK_SECRET" },
    { name: "other", secret_env: "LATTICE_OIDC_HMAC_SECRET" },
  ]);
});

test("a key that looks like a secret is masked, or is known to be public", () => {
  const open = ["api.tls_key", "api.tls_ca_key", "quorum.etcd.tls.key"];
  const suspects = [...SETTINGS.keys()]
    .filter((key) => /secret|token|passw|credential|(^|[._])key(_|$)/.test(key) && !open.includes(key))
    .filter((key) => !/_(interval|timeout|seconds)$/.test(key));
  expect(suspects.length).toBeGreaterThan(5);
  expect(suspects.filter((key) => masked(key, "written out") !== IS_SET)).toEqual([]);
});

test("a table of tenants can be set while servers run, a wrong one not", () => {
  const config = loadConfig(null);
  const changed = withSetting(config, "rate_limits.tenants", { physics: 500 });
  expect(changed.ok && changed.value.rateLimits.tenants).toEqual({ physics: 500 });
  expect(withSetting(config, "rate_limits.tenants", { physics: -1 })).toMatchObject({ error: expect.any(String) });
  expect(withSetting(config, "rate_limits.tenants", "500")).toMatchObject({ error: expect.any(String) });
  const timeout = withSetting(config, "rate_limits.stalled_stream_timeout", "5s");
  expect(timeout.ok && timeout.value.rateLimits.stalledStreamTimeout).toBe(5_000);
});

test("a changed setting is shown as it was set", () => {
  const changed = withSetting(loadConfig(null), "node_agent.grace_period", "90s");
  expect(changed.ok && shown(changed.value, "node_agent.grace_period")).toBe("90s");
  expect(changed.ok && changed.value.nodeAgent.gracePeriod).toBe(90_000);
});

test("a change must keep the rules between settings", () => {
  const config = load("server: { production: true }");
  expect(withSetting(config, "node_agent.heartbeat_timeout", "9s")).toMatchObject({
    error: "must be longer than node_agent.heartbeat_interval",
  });
  expect(withSetting(config, "api.auto_create_tenants", true)).toMatchObject({
    error: "must not be true when server.production is true",
  });
  expect(withSetting(config, "quorum.node_id", 2)).toMatchObject({ error: "it cannot be changed while servers run" });
});

test("a trace may be sent below the data folder or to an object store only", () => {
  const config = load("server: { data_dir: here }");
  const to = (path: string) => withSetting(config, "scheduler.trace_path", path);
  expect(to("/etc/passwd")).toMatchObject({ error: expect.stringContaining("below the servers' data folders") });
  expect(to("../x")).toMatchObject({ error: "leads out of the data folder" });
  expect(to("s3://bucket/traces")).toMatchObject({ error: expect.stringContaining("needs credentials") });
  const changed = to("other.jsonl");
  expect(changed.ok && shown(changed.value, "scheduler.trace_path")).toBe(join(resolve("here"), "traces/other.jsonl"));
  expect(withSetting(config, "scheduler.trace_capture", "/tmp/x")).toMatchObject({ ok: false });
});
