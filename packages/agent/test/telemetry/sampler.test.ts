// How often attempts are sampled, and what a sample says.

import { pino } from "pino";
import { expect, test } from "vitest";
import { directFiles } from "../../src/files/direct-files.ts";
import { type ProcessUsage, usageOf } from "../../src/host/usage.ts";
import { sampler } from "../../src/telemetry/sampler.ts";

function rig() {
  let now = 0;
  let due: { at: number; act: () => void }[] = [];
  const recorded: { at: number; key: string; values: Readonly<Record<string, number>> }[] = [];
  const use: { now: ProcessUsage | null } = { now: { cpuMs: 0, memoryBytes: 0, io: null } };
  const samples = sampler({
    usage: async () => use.now,
    onSample: (key, values) => void recorded.push({ at: now, key, values }),
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

test("a sample is the mean since the previous one, relative to its cores", async () => {
  const r = rig();
  r.samples.start("1.1", 2);
  r.use.now = { cpuMs: 30_000, memoryBytes: 5_000, io: { readBytes: 60_000, writtenBytes: 3_000 } };
  await r.to(30_000);
  r.use.now = { cpuMs: 90_000, memoryBytes: 4_000, io: { readBytes: 60_000, writtenBytes: 1_000 } };
  await r.to(60_000);
  r.use.now = null;
  await r.to(90_000);
  expect(r.recorded.map(({ values }) => values)).toEqual([
    { cpu_utilization: 0.5, memory_used: 5_000, io_read_bytes: 2_000, io_write_bytes: 100 },
    // A process that ended took what it had written along: nothing is said of it.
    { cpu_utilization: 1, memory_used: 4_000, io_read_bytes: 0 },
  ]);
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
  const own = await usageOf([process.pid, 2 ** 30], (pids) => directFiles.io(pids, "1.1"));
  expect(own.memoryBytes).toBeGreaterThan(10_000_000);
  expect(own.cpuMs).toBeGreaterThan(0);
  expect(own.io?.readBytes).toBeGreaterThanOrEqual(0);
});
