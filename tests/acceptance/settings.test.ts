// Configuration of a server, and its status pages.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { startProgram, tailOf } from "../harness/program.ts";
import { request } from "../harness/rest.ts";
import { useCluster } from "../harness/use-cluster.ts";

const folder = mkdtempSync(join(tmpdir(), "lattice-settings-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));

describe("a production configuration", () => {
  const cluster = useCluster({ nodes: 1, config: "server:\n  production: true\n" });

  test("refuses unknown tenants and changes nothing", async () => {
    const answer = await cluster.api("POST", "/allocations", { body: { entrypoint: "true", tenant: "strangers" } });
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ code: "unknown_tenant" });
    expect((await cluster.api("GET", "/tenants/strangers")).status).toBe(404);
    expect(await cluster.allocations()).toEqual([]);
  });

  test("serves a tenant once an administrator has created it", async () => {
    const made = await cluster.api("POST", "/tenants", { body: { id: "guests" } });
    expect(made.status).toBe(200);
    const id = await cluster.submit({ entrypoint: "true", tenant: "guests" });
    expect((await cluster.ends(id)).state).toBe("completed");
  });
});

describe("an open configuration", () => {
  const cluster = useCluster({ nodes: 1, config: "api: { auto_create_tenants: true }\n" });

  test("creates an unknown tenant on first use", async () => {
    const id = await cluster.submit({ entrypoint: "true", tenant: "newcomers" });
    expect((await cluster.ends(id)).state).toBe("completed");
    const tenant = await cluster.api("GET", "/tenants/newcomers");
    expect(tenant.body).toMatchObject({ id: "newcomers", automatic: true });
  });

  test("has the default tenant and the four vClusters", async () => {
    expect((await cluster.api("GET", "/tenants/default")).status).toBe(200);
    const { body } = await cluster.api<{ vclusters: { id: string; is_default?: boolean }[] }>("GET", "/vclusters");
    const ids = body.vclusters.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(["hpc-batch", "ml-training", "service", "interactive"]));
    expect(body.vclusters.filter((one) => one.is_default === true).map(({ id }) => id)).toEqual(["hpc-batch"]);
  });

  test("serves health, readiness, metrics and the contract", async () => {
    const health = await request(cluster.apiUrl, "GET", "/healthz");
    expect(health.status).toBe(200);
    expect(health.headers.get("content-type")).toMatch(/json/);
    expect((await request(cluster.apiUrl, "GET", "/readyz")).status).toBe(200);
    const metrics = await request(cluster.apiUrl, "GET", "/metrics");
    expect(metrics.status).toBe(200);
    expect(metrics.text).toMatch(/^lattice_\w+/m);
    const contract = await cluster.api<{ openapi: string; paths: Record<string, unknown> }>("GET", "/openapi.json");
    expect(contract.body.openapi).toMatch(/^3\.1/);
    expect(Object.keys(contract.body.paths)).toContain("/api/v1/allocations/{id}");
    expect((await request(cluster.apiUrl, "GET", "/v1/nodes")).status).toBe(200);
  });

  test("answers an unknown path with a problem", async () => {
    const answer = await cluster.api("GET", "/no-such-thing");
    expect(answer.status).toBe(404);
    expect(answer.headers.get("content-type")).toMatch(/problem\+json/);
    expect(answer.body).toMatchObject({ status: 404 });
  });

  test("refuses requests that exceed a quota, with the figures", async () => {
    await cluster.api("POST", "/tenants", { body: { id: "small", quota: { max_nodes: 1 } } });
    const answer = await cluster.api("POST", "/allocations", {
      body: { entrypoint: "true", tenant: "small", nodes: 2 },
    });
    expect(answer.status).toBe(429);
    expect(answer.body).toMatchObject({ code: "quota_exceeded" });
    expect(String(answer.body.detail)).toMatch(/1/);
  });
});

describe("configuration files", () => {
  test.each([
    ["an unknown key, with the nearest known one", "api:\n  rest_lisen: 127.0.0.1:0\n", /rest_lisen[\s\S]*rest_listen/],
    ["a value of the wrong kind", "scheduling:\n  backfill_depth: many\n", /backfill_depth/],
    ["a duration without a unit", "node_agent:\n  heartbeat_interval: 10\n", /heartbeat_interval/],
    [
      "accounting, which is not supported",
      "accounting:\n  enabled: true\n",
      /accounting\.enabled.*does not support accounting systems/,
    ],
    ["text that is not YAML", "server: [unclosed\n", /config|yaml|server\.yaml|line/i],
    [
      "listening elsewhere without authentication",
      "api:\n  rest_listen: 0.0.0.0:0\n",
      /allow_unauthenticated|loopback/,
    ],
  ])("a file with %s is refused by name", async (name, text, complaint) => {
    const { code, log } = await startWith(name, text);
    expect(code).not.toBe(0);
    expect(log).toMatch(complaint);
  });

  test("a missing file is refused", async () => {
    const logFile = join(folder, "missing.log");
    const server = startProgram("lattice-server", { args: ["--config", join(folder, "missing.yaml")], logFile });
    expect(await server.ended).not.toBe(0);
    expect(tailOf(logFile, 20)).toContain("missing.yaml");
  });
});

async function startWith(name: string, text: string) {
  const base = join(folder, name.replace(/\W+/g, "-"));
  writeFileSync(`${base}.yaml`, text);
  const args = ["--config", `${base}.yaml`, "--data-dir", `${base}.data`, "--grpc-listen", "127.0.0.1:0"];
  const server = startProgram("lattice-server", { args, logFile: `${base}.log` });
  const code = await server.ended;
  return { code, log: tailOf(`${base}.log`, 40) };
}
