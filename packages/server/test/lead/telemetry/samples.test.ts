// Samples from agents to readers: what is kept, how it is aggregated, and which agents measure at which rate.

import { create } from "@bufbuild/protobuf";
import { type Allocation, type AllocationId, attempt, instant, type NodeId, type View } from "@lattice/core";
import { pb } from "@lattice/wire";
import { expect, test } from "vitest";
import { seriesOf } from "../../../src/api/handlers/metric-series.ts";
import type { Clock } from "../../../src/base/clock.ts";
import { decideTelemetry } from "../../../src/lead/controllers/telemetry/decide.ts";
import { createSamples, type Sample } from "../../../src/lead/telemetry/samples.ts";

const [n1, n2] = ["n1", "n2"] as NodeId[] as [NodeId, NodeId];
const one = "1" as AllocationId;
const clockAt = (time: { now: number }): Clock => ({ now: () => instant(time.now) }) as Clock;
const measures = (allocationId: string, values: Record<string, number>) =>
  create(pb.AttemptMeasuresSchema, { allocationId, attempt: 1, values });

test("an hour of samples is kept, for a limited number of allocations", () => {
  const time = { now: 0 };
  const samples = createSamples(clockAt(time));
  for (time.now = 1_000; time.now <= 2 * 3_600_000; time.now += 60_000)
    samples.record(n1, [measures("1", { memory_used: 1 })]);
  const held = samples.since(one, 0);
  expect(held).toHaveLength(61);
  expect(samples.since(one, held.at(-2)?.at ?? 0)).toEqual(held.slice(-1));
  for (let id = 2; id <= 10_001; id += 1) samples.record(n1, [measures(String(id), { memory_used: 1 })]);
  expect(samples.since(one, 0)).toEqual([]);
  expect(samples.since("2" as AllocationId, 0)).toHaveLength(1);
  samples.forget();
  expect(samples.since("2" as AllocationId, 0)).toEqual([]);
});

const sample = (node: NodeId, at: number, values: Record<string, number>): Sample => ({
  node,
  at: instant(at),
  values,
});
const points = (series: readonly pb.MetricSeries[]) =>
  series.map(({ metric, unit, node, points: all }) => [
    `${metric} ${unit} ${node}`,
    ...all.map(({ at, value }) => `${Number(at?.seconds ?? 0)}: ${value}`),
  ]);

test("over all nodes shares are averaged and amounts added; by node they are unchanged", () => {
  const told = [
    sample(n1, 10_000, { cpu_utilization: 0.5, memory_used: 100 }),
    sample(n2, 12_000, { cpu_utilization: 1, memory_used: 50 }),
    sample(n1, 40_000, { cpu_utilization: 0.25 }),
  ];
  const asked = { metrics: [], windowMs: 30_000 };
  expect(points(seriesOf(told, { ...asked, mode: "summary" }))).toEqual([
    ["cpu_utilization percent ", "30: 75", "60: 25"],
    ["memory_used bytes ", "30: 150"],
  ]);
  expect(points(seriesOf(told, { ...asked, mode: "per_node", metrics: ["cpu_utilization"] }))).toEqual([
    ["cpu_utilization percent n1", "10: 50", "40: 25"],
    ["cpu_utilization percent n2", "12: 100"],
  ]);
  expect(seriesOf([], { ...asked, mode: "summary" })).toEqual([]);
});

function viewOf(...records: object[]): View {
  return { placed: () => records as Allocation[] } as unknown as View;
}
const running = (id: string, telemetry?: object) => ({
  id,
  attempt: attempt(1),
  spec: telemetry === undefined ? {} : { telemetry },
  phase: { kind: "running", nodes: [n1] },
});

test("an attempt receives each setting once, and ended settings are withdrawn", () => {
  const debug = { mode: "debug", until: instant(5_000) };
  const first = decideTelemetry(viewOf(running("1", debug), running("2")), new Map(), instant(0));
  expect(first.intents).toEqual([{ node: n1, allocation: "1", attempt: 1, mode: "debug" }]);
  const second = decideTelemetry(viewOf(running("1", debug), running("2")), first.sent, instant(1));
  expect(second.intents).toEqual([]);
  // It has expired or was withdrawn.
  const over = decideTelemetry(viewOf(running("1", debug)), second.sent, instant(5_000));
  const back = decideTelemetry(viewOf(running("1")), second.sent, instant(1));
  for (const { intents } of [over, back]) expect(intents).toMatchObject([{ allocation: "1", mode: "prod" }]);
  // A new leader does not know earlier orders, and sends the current ones.
  expect(decideTelemetry(viewOf(running("1", debug)), new Map(), instant(9_000)).intents).toMatchObject([
    { mode: "prod" },
  ]);
  expect(decideTelemetry(viewOf(), second.sent, instant(1))).toEqual({ intents: [], sent: new Map() });
});
