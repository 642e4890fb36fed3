// The backup section: defaults, refused values, and the sources of credentials.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { loadConfig } from "../../../src/base/config/index.ts";
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
  expect(load({ retention: { all: "1d" } }).retention).toEqual({ ...RULE, all: 86_400_000 });
});

test("an object store needs credentials, from the file or the environment", () => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "");
  expect(() => load({ destination: "s3://bucket/x" })).toThrow(/backup.s3 must have access_key_id/);
  vi.stubEnv("STORE_SECRET", "b");
  const keys = { access_key_id: "a", secret_access_key: "env://STORE_SECRET", region: "eu-1" };
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

test("secrets must be references; literal ones are refused with a hint", () => {
  const file = join(dir, "key");
  writeFileSync(file, "from-a-file-of-16\n");
  const read = { access_key_id: `file://${file}`, secret_access_key: `file://${file}` };
  expect(load({ s3: read }).s3).toMatchObject({
    accessKeyId: "from-a-file-of-16",
    secretAccessKey: "from-a-file-of-16",
  });
  const whole = (rest: object) => {
    const path = join(dir, "server.yaml");
    writeFileSync(path, JSON.stringify({ server: { data_dir: join(dir, "data") }, ...rest }));
    return loadConfig(path);
  };
  expect(whole({ logs: { s3: read } }).logs.s3).toMatchObject({ secretAccessKey: "from-a-file-of-16" });
  const hook = (secret: object) => ({
    notifications: { webhooks: [{ name: "x", url: "https://hooks.example.com", ...secret }] },
  });
  for (const secret of [{ secret: `file://${file}` }, { secret_file: file }])
    expect(whole(hook(secret)).notifications.webhooks).toMatchObject([{ secret: "from-a-file-of-16" }]);

  const next = "is not a reference; write env://NAME, file:///path or vault://path";
  const s3 = { secret_access_key: "written-out-here" };
  expect(() => whole({ backup: { s3 } })).toThrow(`backup.s3.secret_access_key ${next}`);
  expect(() => whole({ logs: { s3 } })).toThrow(`logs.s3.secret_access_key ${next}`);
  expect(() => whole(hook({ secret: "written-out-here" }))).toThrow(`notifications.webhooks.0.secret ${next}`);
  expect(() => whole({ backup: { s3: { access_key_id: "vault://never/fetched" } } })).toThrow(/was not fetched/);
  vi.stubEnv("NO_SUCH_SECRET", "");
  expect(() => whole(hook({ secret: "env://NO_SUCH_SECRET" }))).toThrow(/NO_SUCH_SECRET is not set/);
});

test.each([
  [{ destination: "s3://" }, /s3:\/\/bucket\/prefix/],
  [{ destination: "/x", interval: "5ms" }, /at least 1s/],
  [{ destination: "/x", every: "1h" }, /backup.every is not a known key/],
  [{ s3: { endpoint: "nowhere" } }, /backup.s3.endpoint is not a URL/],
])("refuses %j", (backup, words) => {
  expect(() => load(backup)).toThrow(words);
});
