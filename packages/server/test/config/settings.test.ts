// What is told of the configuration while the server runs: every key, in force, with where it comes from, and no secret.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { type ConfigOverrides, loadConfig } from "../../src/config/index.ts";
import { fileKeys } from "../../src/config/keys.ts";
import { tryValue } from "../../src/config/live.ts";
import { IS_SET, masked } from "../../src/config/masked.ts";
import { settingNamed, settings, shownValue } from "../../src/config/settings.ts";

const dir = mkdtempSync(join(tmpdir(), "lattice-settings-"));
afterAll(() => rmSync(dir, { recursive: true, force: true, maxRetries: 9 }));
afterEach(() => vi.unstubAllEnvs());

function load(yaml: string, flags: ConfigOverrides = {}) {
  const path = join(dir, "server.yaml");
  writeFileSync(path, yaml);
  return loadConfig(path, flags);
}

function shown(config: ReturnType<typeof loadConfig>, key: string): unknown {
  const setting = settingNamed(key);
  if (setting === undefined) throw new Error(`no setting ${key}`);
  return JSON.parse(shownValue(config, setting));
}

test("every key of the file is a setting, and has a value", () => {
  expect(settings().map(({ key }) => key)).toEqual(fileKeys().map(({ key }) => key));
  const config = loadConfig(null);
  for (const setting of settings()) expect(() => JSON.parse(shownValue(config, setting))).not.toThrow();
  for (const section of ["api", "quorum", "telemetry", "logs", "audit", "backup", "network", "notifications"])
    expect(settings().some(({ key }) => key.startsWith(`${section}.`))).toBe(true);
});

test("what is shown is what is in force, with defaults that follow from others", () => {
  const config = load(
    "server: { data_dir: here }\nquorum: { node_id: 7 }\nbackup: { retention: { daily: 40d } }\nnetwork: { vni_pool_end: 2000 }",
  );
  expect(shown(config, "server.id")).toBe("server-7");
  expect(shown(config, "quorum.data_dir")).toBe(join(resolve("here"), "log"));
  expect(shown(config, "audit.signing_key_path")).toBe(join(resolve("here"), "audit", "signing-key.pem"));
  expect(shown(config, "backup.retention.daily")).toBe("40d");
  expect(shown(config, "backup.retention.weekly")).toBe("90d");
  expect(shown(config, "network.vni_pool_end")).toBe(2_000);
  expect(shown(config, "api.tls_cert")).toBeNull();
  expect(shown(config, "accounting.enabled")).toBe(false);
});

test("where each comes from", () => {
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

test("no secret is told, however it came in", () => {
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
  const told = settings().map((setting) => `${setting.key}=${shownValue(config, setting)}`);
  for (const secret of [...Object.values(secrets), "fabric-token-value"])
    expect(told.filter((line) => line.includes(secret))).toEqual([]);
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

test("a key that sounds like a secret is held back, or is known to be none", () => {
  const open = ["api.tls_key", "api.tls_ca_key", "quorum.etcd.tls.key", "audit.signing_key_path"];
  const suspects = fileKeys()
    .map(({ key }) => key)
    .filter((key) => /secret|token|passw|credential|(^|[._])key(_|$)/.test(key) && !open.includes(key))
    .filter((key) => !/_(interval|timeout|seconds)$/.test(key));
  expect(suspects.length).toBeGreaterThan(5);
  expect(suspects.filter((key) => masked(key, "written out") !== IS_SET)).toEqual([]);
});

test("a table of tenants can be set while servers run, a wrong one not", () => {
  const config = loadConfig(null);
  const tried = tryValue(config, "rate_limits.tenants", { physics: 500 });
  expect("config" in tried && tried.config.rateLimits.tenants).toEqual({ physics: 500 });
  expect(tryValue(config, "rate_limits.tenants", { physics: -1 })).toMatchObject({ problem: expect.any(String) });
  expect(tryValue(config, "rate_limits.tenants", "500")).toMatchObject({ problem: expect.any(String) });
  const timeout = tryValue(config, "rate_limits.stalled_stream_timeout", "5s");
  expect("config" in timeout && timeout.config.rateLimits.stalledStreamTimeout).toBe(5_000);
});
