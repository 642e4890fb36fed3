// Services: discoverable exactly while they run, probed, and ended, requeued or failed by policy when the probe fails.
import { statSync } from "node:fs";
import { expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

const cluster = useCluster({ nodes: 2, config: "api: { auto_create_tenants: true }\n" });

// Unique to this process, and below the ephemeral port range.
let port = 21_000 + (process.pid % 600) * 8;
const nextPort = (): number => {
  port += 1;
  return port;
};

/** Answers until a file appears, and records every probe. */
const serve = (on: number, sick: string, asked: string): string =>
  `exec ${process.execPath} -e 'const fs=require("fs");require("http").createServer((q,r)=>{` +
  `fs.appendFileSync("${asked}",".");r.statusCode=fs.existsSync("${sick}")?500:200;r.end()}).listen(${on},"127.0.0.1")'`;

const probe = (on: number, more: Record<string, unknown> = {}) => ({
  probe_type: "http",
  port: on,
  path: "/healthz",
  period_secs: 1,
  // So patient that a slow machine does not fail the probe.
  initial_delay_secs: 5,
  failure_threshold: 5,
  timeout_secs: 10,
  ...more,
});

test("a service is found by name only while it runs and only by its tenant", async () => {
  const on = nextPort();
  const id = await cluster.submit({
    name: "web",
    tenant: "blue",
    entrypoint: "sleep 600",
    lifecycle: { type: "unbounded" },
    expose: [{ name: "frontend", port: on }, { port: on + 1 }],
  });
  await cluster.reaches(id, ["running"]);
  const [node] = (await cluster.allocation(id)).nodes ?? [];
  expect((await cluster.api("GET", "/services")).body).toEqual({
    services: [
      { name: "frontend", tenant: "blue", endpoints: 1 },
      { name: "web", tenant: "blue", endpoints: 1 },
    ],
  });
  expect((await cluster.api("GET", "/services/frontend")).body).toMatchObject({
    endpoints: [{ allocation_id: id, tenant: "blue", node, port: on }],
  });
  const green = { headers: { "x-lattice-tenant": "green" } };
  expect((await cluster.api("GET", "/services", green)).body).toEqual({ services: [] });
  expect((await cluster.api("GET", "/services/frontend", green)).body).toMatchObject({ code: "unknown_service" });
  await cluster.cli(["cancel", id]);
  expect((await cluster.api("GET", "/services")).body).toEqual({ services: [] });
});

test("a service that fails its probe is requeued or failed by its policy", async () => {
  const on = nextPort();
  const [sick, asked] = [cluster.file(`sick-${on}`), cluster.file(`asked-${on}`)];
  const id = await cluster.submit({
    entrypoint: `rm -f ${sick}; ${serve(on, sick, asked)}`,
    lifecycle: { type: "unbounded", requeue_policy: "always" },
    liveness_probe: probe(on),
  });
  await cluster.reaches(id, ["running"]);
  await eventually({ what: "it was asked a few times" }, () => (statSync(asked).size > 3 ? true : null));
  expect((await cluster.allocation(id)).requeues).toBe(0);

  await cluster.submit({ entrypoint: `touch ${sick}` });
  const again = await eventually({ what: "it runs a second time" }, async () => {
    const record = await cluster.allocation(id);
    return record.state === "running" && record.attempt === 2 ? record : null;
  });
  expect(again.requeues).toBe(1);
  await cluster.cli(["cancel", id]);

  const dead = await cluster.submit({
    entrypoint: "sleep 600",
    requeue_policy: "never",
    walltime: "10m",
    liveness_probe: { port: nextPort(), period_secs: 1, initial_delay_secs: 1, failure_threshold: 2 },
  });
  const end = await cluster.ends(dead);
  expect(end).toMatchObject({ state: "failed", reason: "probe_failed" });
  expect(end.message).toMatch(/its liveness probe \(tcp \d+\) failed 2 times in a row/);
});

test("invalid service fields are refused by name and nothing is queued", async () => {
  const before = (await cluster.allocations()).length;
  const refused = async (body: Record<string, unknown>): Promise<readonly string[]> => {
    const answer = await cluster.api<{ fields?: { field: string }[] }>("POST", "/allocations", {
      body: { entrypoint: "true", ...body },
    });
    expect(answer.status).toBe(400);
    return (answer.body.fields ?? []).map(({ field }) => field);
  };
  expect(await refused({ expose: [{ port: 70_000 }] })).toEqual(["connectivity.expose[0].port"].map(named));
  expect(await refused({ liveness_probe: { probe_type: "udp", port: 80 } })).toEqual([
    named("liveness_probe.probe_type"),
  ]);
  expect(await refused({ liveness_probe: { port: 0 } })).toEqual([named("liveness_probe.port")]);
  expect(await refused({ liveness_probe: { probe_type: "http", port: 80, path: "no-slash" } })).toEqual([
    named("liveness_probe.path"),
  ]);
  expect((await cluster.allocations()).length).toBe(before);
});

const named = (field: string): string => `allocation.${field}`;
