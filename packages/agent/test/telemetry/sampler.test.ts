// How often attempts are sampled, and what a sample says.

import type { Sketch, UsageValues } from "@lattice/core";
import { pino } from "pino";
import { expect, test } from "vitest";
import { directFiles } from "../../src/files/direct-files.ts";
import { groupUsageOf } from "../../src/host/usage/group-usage.ts";
import { type ProcessUsage, usageOf } from "../../src/host/usage/usage.ts";
import { sampler } from "../../src/telemetry/sampler.ts";

const reading = (some: Partial<ProcessUsage>): ProcessUsage => ({
  ...{ cpuMs: 0, memoryBytes: 0, peakMemoryBytes: null, io: null, processes: 1, faults: 0, majorFaults: 0 },
  ...{ stalledMs: null, network: null },
  ...some,
});

const meansOf = (metrics: ReadonlyMap<string, Sketch>): Record<string, number> =>
  Object.fromEntries(Array.from(metrics, ([name, { sum, count }]) => [name, sum / count]));

function rig() {
  let now = 0;
  let due: { at: number; act: () => void }[] = [];
  const recorded: { at: number; key: string; values: Readonly<Record<string, number>> }[] = [];
  const kept = new Map<string, UsageValues>();
  const use: { now: ProcessUsage | null } = { now: reading({}) };
  const samples = sampler({
    usage: async () => use.now,
    onWindow: (key, { metrics }) => void recorded.push({ at: now, key, values: meansOf(metrics) }),
    keep: async (key, used) => void kept.set(key, used),
    now: () => now,
    log: pino({ level: "silent" }),
    after(ms, act) {
      const one = { at: now + ms, act };
      due.push(one);
      return () => {
        due = due.filter((other) => other !== one);
      };
    },
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return {
    samples,
    recorded,
    use,
    kept,
    waiting: () => due.length,
    async to(ms: number) {
      for (;;) {
        const next = due.filter(({ at }) => at <= ms).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        due = due.filter((other) => other !== next);
        now = next.at;
        next.act();
        await turn();
      }
      now = ms;
    },
  };
}

test("samples come every 30 s by default and every second in debug mode", async () => {
  const r = rig();
  r.samples.start("1.1", 2);
  await r.to(60_000);
  expect(r.recorded.map(({ at }) => at)).toEqual([30_000, 60_000]);
  r.samples.mode("1.1", "debug");
  await r.to(63_000);
  r.samples.mode("1.1", "audit");
  await r.to(93_000);
  r.samples.mode("1.1", "debug");
  await r.to(94_000);
  r.samples.reset();
  await r.to(124_000);
  expect(r.recorded.slice(2).map(({ at }) => at)).toEqual([61_000, 62_000, 63_000, 93_000, 94_000, 124_000]);
  r.samples.stop("1.1");
  expect(r.waiting()).toBe(0);
});

test("a window has the mean since the previous one, relative to its cores", async () => {
  const r = rig();
  r.samples.start("1.1", 2);
  r.use.now = reading({ cpuMs: 30_000, memoryBytes: 5_000, io: { readBytes: 60_000, writtenBytes: 3_000 } });
  await r.to(30_000);
  r.use.now = reading({ cpuMs: 90_000, memoryBytes: 4_000, io: { readBytes: 60_000, writtenBytes: 1_000 } });
  await r.to(60_000);
  r.use.now = null;
  await r.to(90_000);
  const rounded = ({ processes, page_faults, major_page_faults, ...values }: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Math.round(value * 1e9) / 1e9]));
  const shown = r.recorded.map(({ values }) => rounded(values));
  expect(shown).toEqual([
    { cpu_utilization: 0.5, memory_used: 5_000, io_read_bytes: 2_000, io_write_bytes: 100 },
    // A process that ended took the first count of writes along: that interval has none.
    { cpu_utilization: 1, memory_used: 4_000, io_read_bytes: 0, io_write_bytes: 0 },
  ]);
});

test("an attempt that ends in its first second is measured at its end", async () => {
  const r = rig();
  r.samples.start("1.1", 2);
  r.use.now = reading({ cpuMs: 40, peakMemoryBytes: 3_000 });
  await r.to(100);
  r.samples.stop("1.1");
  await r.samples.finish("1.1");
  expect(r.kept.get("1.1")).toEqual({ processorMs: 40, peakMemoryBytes: 3_000 });
});

test("counters that end with their processes are kept by the highest reading", async () => {
  const r = rig();
  r.samples.start("1.1", 2);
  r.use.now = reading({ cpuMs: 900, memoryBytes: 7_000, io: { readBytes: 5, writtenBytes: 6 } });
  await r.to(4_000);
  r.use.now = reading({ memoryBytes: 0 });
  r.samples.stop("1.1");
  await r.samples.finish("1.1");
  expect(r.kept.get("1.1")).toEqual({ processorMs: 900, peakMemoryBytes: 7_000, readBytes: 5, writtenBytes: 6 });
});

test("an attempt of an earlier agent has no rates before its second reading", async () => {
  const r = rig();
  r.use.now = reading({ cpuMs: 5_000_000 });
  r.samples.start("1.1", 1, true);
  await r.to(30_000);
  expect(r.recorded.map(({ values }) => values.cpu_utilization)).toEqual([0]);
});

test("a restarted attempt and an unknown attempt", async () => {
  const r = rig();
  r.samples.start("1.1", 1);
  r.samples.start("1.1", 1);
  expect(r.waiting()).toBe(1);
  r.samples.mode("9.1", "debug");
  r.samples.close();
  expect(r.waiting()).toBe(0);
});

test("the kernel reports running processes", async () => {
  const own = await usageOf([process.pid, 2 ** 30], {
    group: () => groupUsageOf({ v2: "", memory: null }),
    io: (pids) => directFiles.io(pids, "1.1"),
  });
  expect(own.memoryBytes).toBeGreaterThan(10_000_000);
  expect(own.cpuMs).toBeGreaterThan(0);
  expect(own.io?.readBytes).toBeGreaterThanOrEqual(0);
});
