// Metrics of services: from a time-series store with the query API of Prometheus, or from agents.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Allocation, type AllocationId, attempt, duration, type NodeId } from "@lattice/core";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { exportMeasures } from "../../../src/lead/telemetry/exported.ts";
import { createMeasures } from "../../../src/lead/telemetry/measures.ts";
import { createReadings } from "../../../src/lead/telemetry/readings.ts";
import { queryText } from "../../../src/lead/telemetry/store-query.ts";

let status = 200;
let body = "";
const asked: string[] = [];
const store = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  asked.push(new URL(request.url ?? "", "http://store").searchParams.get("query") ?? "");
  response.writeHead(status).end(body);
});
beforeAll(() => new Promise<void>((resolve) => store.listen(0, "127.0.0.1", resolve)));
afterAll(() => store.close());

const record = (metric: string): Allocation =>
  ({
    id: "7",
    attempt: attempt(3),
    phase: { kind: "running", nodes: ["n1", "n2"], attempts: [1, 3] },
    spec: { lifecycle: { scale: { metric } } },
  }) as unknown as Allocation;
const never = new AbortController().signal;
const vector = (value: string) =>
  JSON.stringify({ status: "success", data: { resultType: "vector", result: [{ metric: {}, value: [1, value] }] } });

test("the store receives the documented query, and a missing answer is no value", async () => {
  let told: number | null = null;
  const readings = createReadings({
    storeUrl: `http://127.0.0.1:${(store.address() as AddressInfo).port}/`,
    measured: (_node, _id, _attempt, metric) => (metric === "gpu_utilization" ? told : null),
    logger: pino({ level: "silent" }),
  });
  const read = async (metric = "gpu_utilization") =>
    (await readings.read([record(metric)], never)).get("7" as AllocationId);
  body = vector("0.83");
  expect(await read()).toBe(0.83);
  expect(asked.at(-1)).toBe('avg(lattice_allocation_gpu_utilization{allocation="7"})');
  for (const [code, text] of [
    [200, vector("NaN")],
    [200, JSON.stringify({ status: "success", data: { result: [] } })],
    [200, JSON.stringify({ status: "error", error: "bad" })],
    [200, "not JSON"],
    [503, vector("1")],
  ] as const) {
    status = code;
    body = text;
    told = null;
    expect(await read()).toBeUndefined();
    told = 99;
    expect(await read(), "what the agents say").toBe(99);
    expect(await read("depth{job='x'}"), "which is not what was asked for").toBeUndefined();
  }
});

test("the exported page has the metric of the policy, by node, of current attempts", () => {
  const placed = [record("queue_depth"), { ...record("load"), id: "8" }, record("depth{job='x'}"), record("unsaid")];
  const told: Record<string, number> = { "n1 7 1 queue_depth": 10, "n2 7 3 queue_depth": 30.5, "n2 8 3 load": 1e-7 };
  const measured = (...key: readonly (string | number)[]) => told[key.join(" ")] ?? null;
  const view = (kind: string) =>
    ({ placed: () => placed, vcluster: () => ({ scheduler: kind }) }) as unknown as Parameters<
      typeof exportMeasures
    >[0];
  const page = exportMeasures(view("service_bin_pack"), measured);
  expect(page.split("\n").filter((line) => !line.startsWith("# HELP"))).toEqual([
    "# TYPE lattice_allocation_queue_depth gauge",
    'lattice_allocation_queue_depth{allocation="7",node_id="n1"} 10',
    'lattice_allocation_queue_depth{allocation="7",node_id="n2"} 30.5',
    "# TYPE lattice_allocation_load gauge",
    'lattice_allocation_load{allocation="8",node_id="n2"} 1e-7',
    "",
  ]);
  expect(exportMeasures(view("sensitive_reservation"), measured), "sensitive work").toBe("");
});

const queryOf = (metric: string, nodes = ["n1", "n2"]) =>
  queryText({ metric, allocation: "7", nodes: nodes as NodeId[] });

test("a matcher is scoped to the nodes of the allocation", () => {
  expect(queryOf("depth{job='x'}")).toBe(`avg(depth{job="x",node_id=~"n1|n2"})`);
  expect(queryOf("depth{}")).toBe(`avg(depth{node_id=~"n1|n2"})`);
  expect(queryOf("depth{}", ["n.1"])).toBe(String.raw`avg(depth{node_id=~"n\\.1"})`);
  expect(queryOf("depth{}", []), "an empty pattern matches what has no node").toBeNull();
});

test.each([
  "x{a='b'}) or max(other{",
  "x{a='b'}) or max(other{b='c'}",
  `x{a="b\\"} or other{c="}`,
  "lattice_allocation_depth{allocation='8'}",
  "x{__name__=~'.+'}",
  'depth"} or x',
  "sum(x)",
])("%s is never queried", async (metric) => {
  expect(queryOf(metric)).toBeNull();
  const before = asked.length;
  const storeUrl = `http://127.0.0.1:${(store.address() as AddressInfo).port}/`;
  const readings = createReadings({ storeUrl, measured: () => null, logger: pino({ level: "silent" }) });
  status = 200;
  body = vector("5");
  expect((await readings.read([record(metric)], never)).size).toBe(0);
  expect(asked).toHaveLength(before);
});

test("without a store the mean of recent values of current attempts counts", async () => {
  let worked = 0;
  const measures = createMeasures({ ...systemClock, worked: () => worked }, duration(1_000));
  const told = (node: string, number: number, values: Record<string, number>) =>
    measures.record(node as NodeId, [{ allocationId: "7", attempt: number, values } as never]);
  const readings = createReadings({ storeUrl: null, measured: measures.value, logger: pino({ level: "silent" }) });
  const read = async () => (await readings.read([record("queue_depth")], never)).get("7" as AllocationId);
  expect(await read()).toBeUndefined();
  told("n1", 1, { queue_depth: 10 });
  told("n2", 3, { queue_depth: 30, other: 1 });
  expect(await read()).toBe(20);
  told("n2", 2, { queue_depth: 500 });
  expect(await read()).toBe(10);
  worked = 1_001;
  expect(await read()).toBeUndefined();
});
