// A service that scales by a time-series store: the leader's page has its metric, a store scrapes the page, and the
// leader queries the store. The store is a double that scrapes the real page on each query and adds one, so that its
// values differ from the agents'.
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { useCluster } from "../harness/use-cluster.ts";

let away = false;
const asked: string[] = [];
const store = createServer({ keepAliveTimeout: 600_000 }, (request, response) => void answer(request, response));
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const query = new URL(request.url ?? "", "http://store").searchParams.get("query") ?? "";
  asked.push(query);
  if (away) return void response.writeHead(503).end();
  const values = await scraped(query);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const result = values.length === 0 ? [] : [{ metric: {}, value: [0, String(mean + 1)] }];
  response.writeHead(200).end(JSON.stringify({ status: "success", data: { resultType: "vector", result } }));
}
await new Promise<void>((resolve) => store.listen(0, "127.0.0.1", resolve));
afterAll(() => void store.close());

const cluster = useCluster({
  nodes: 2,
  config: [
    "node_agent: { heartbeat_interval: 500ms, heartbeat_timeout: 20s }",
    `telemetry: { store_url: "http://127.0.0.1:${(store.address() as AddressInfo).port}" }`,
    "",
  ].join("\n"),
});

/** For `avg(NAME{MATCHER})`, the values of all lines with the name and the matcher. */
async function scraped(query: string): Promise<readonly number[]> {
  const [, name = "?", matcher = "?"] = /^avg\((\w+)\{([^}]*)\}\)$/.exec(query) ?? [];
  const lines = (await (await fetch(`${cluster.apiUrl}/metrics`)).text()).split("\n");
  const found = lines.filter((line) => line.startsWith(`${name}{`) && line.includes(matcher));
  return found.map((line) => Number(line.slice(line.lastIndexOf(" ") + 1)));
}

test("a service scales by the time-series store, and by the agents while the store is away", async () => {
  const depth = cluster.file("depth");
  writeFileSync(depth, "queue_depth 500\nother 3\n");
  const scale_policy = {
    min: 1,
    max: 2,
    metric: "queue_depth",
    target: "100",
    evaluation_interval_seconds: 1,
    scale_up_window_seconds: 1,
    scale_down_window_seconds: 1,
    cooldown_seconds: 1,
  };
  const id = await cluster.submit({
    entrypoint: `while :; do cp ${depth} $LATTICE_METRICS_FILE; sleep 0.3; done`,
    reactive: true,
    scale_policy,
  });
  const says = (text: string) =>
    eventually({ what: text }, async () =>
      (await cluster.cli(["status", id, "--verbose"])).stdout.includes(text) ? true : null,
    );
  await eventually({ what: "it grows by the store" }, async () => {
    const { stdout } = await cluster.cli(["status", id, "--verbose"]);
    return /now 2 nodes \(queue_depth 50[01] is above 100\)/.test(stdout) ? true : null;
  });
  await eventually({ what: "the page has it" }, async () => {
    const values = await scraped(`avg(lattice_allocation_queue_depth{allocation="${id}"})`);
    return values.length > 0 && values.every((value) => value === 500) ? true : null;
  });
  expect(asked).toContain(`avg(lattice_allocation_queue_depth{allocation="${id}"})`);
  const page = await (await fetch(`${cluster.apiUrl}/metrics`)).text();
  expect(page, "only what the policy names").not.toContain("lattice_allocation_other");

  writeFileSync(depth, "queue_depth 7\n");
  await says("now 1 node (queue_depth 8 is below 50)");
  away = true;
  writeFileSync(depth, "queue_depth 300\n");
  await says("now 2 nodes (queue_depth 300 is above 100)");
  await cluster.cli(["cancel", id]);
});

test("a metric beyond the service's own series is refused and nothing is submitted", async () => {
  const metric = "x{a='b'}) or max(other{c='d'}";
  const scale_policy = { min: 1, max: 2, metric, target: "100" };
  const { status, body } = await cluster.api("POST", "/allocations", {
    body: { entrypoint: "sleep 60", reactive: true, scale_policy },
  });
  expect(status).toBe(400);
  expect(JSON.stringify(body)).toContain("scale_policy.metric");
});
