// The backup section: what is left out, what is refused, and where credentials come from.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { loadConfig } from "../../src/config/index.ts";
import { RULE } from "./rig.ts";

const dir = mkdtempSync(join(tmpdir(), "lattice-config-"));
afterAll(() => rmSync(dir, { recursive: true, maxRetries: 9 }));
afterEach(() => vi.unstubAllEnvs());

function load(backup: object) {
  const path = join(dir, "server.yaml");
  writeFileSync(path, JSON.stringify({ server: { data_dir: join(dir, "data") }, backup }));
  return loadConfig(path).backup;
}

test("without a destination nothing is scheduled; with one, hourly", () => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "");
  const home = join(dir, "data", "backups");
  expect(load({})).toEqual({ destination: home, defaultDir: home, interval: null, retention: RULE, s3: null });
  expect(load({ destination: "somewhere" })).toMatchObject({ destination: resolve("somewhere"), interval: 3_600_000 });
  expect(load({ destination: "/x", interval: "0s" }).interval).toBeNull();
  expect(load({ retention: { all: "1d" } }).retention).toEqual({ ...RULE, allMs: 86_400_000 });
});

test("an object store needs credentials, from the file or the environment", () => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "");
  expect(() => load({ destination: "s3://bucket/x" })).toThrow(/backup.s3 must have access_key_id/);
  const keys = { access_key_id: "a", secret_access_key: "b", region: "eu-1" };
  expect(load({ destination: "s3://bucket/x", s3: keys }).s3).toEqual({
    endpoint: "https://s3.eu-1.amazonaws.com",
    region: "eu-1",
    accessKeyId: "a",
    secretAccessKey: "b",
  });
  vi.stubEnv("AWS_ACCESS_KEY_ID", "c");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "d");
  expect(load({ destination: "s3://bucket/x" }).s3).toMatchObject({ accessKeyId: "c", secretAccessKey: "d" });
});

test.each([
  [{ destination: "s3://" }, /s3:\/\/bucket\/prefix/],
  [{ destination: "/x", interval: "5ms" }, /at least 1s/],
  [{ destination: "/x", every: "1h" }, /backup.every is not a known key/],
  [{ s3: { endpoint: "nowhere" } }, /backup.s3.endpoint is not a URL/],
])("refuses %j", (backup, words) => {
  expect(() => load(backup)).toThrow(words);
});
