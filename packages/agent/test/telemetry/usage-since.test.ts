// The usage of an attempt whose wrapper has served others.

import { expect, test } from "vitest";
import type { ProcessUsage } from "../../src/host/usage/usage.ts";
import { usageSince } from "../../src/host/usage/usage-since.ts";

const reading: ProcessUsage = {
  ...{ cpuMs: 500, memoryBytes: 10, peakMemoryBytes: 900, processes: 1, faults: 7, majorFaults: 2, network: null },
  io: { readBytes: 100, writtenBytes: 40 },
  stalledMs: { cpu: 5, memory: 1, io: 3 },
};

test("counters begin at what was counted before", () => {
  const now = { ...reading, cpuMs: 620, memoryBytes: 30, faults: 9, io: { readBytes: 150, writtenBytes: 40 } };
  expect(usageSince(reading, now)).toEqual({
    ...{ cpuMs: 120, memoryBytes: 30, peakMemoryBytes: null, processes: 1, faults: 2, majorFaults: 0, network: null },
    io: { readBytes: 50, writtenBytes: 0 },
    stalledMs: { cpu: 0, memory: 0, io: 0 },
  });
});

test("the peak of memory is known once this attempt has raised it", () => {
  expect(usageSince(reading, { ...reading, peakMemoryBytes: 901 }).peakMemoryBytes).toBe(901);
  expect(usageSince({ ...reading, peakMemoryBytes: null }, reading).peakMemoryBytes).toBe(900);
});

test("a counter that went backwards, or was not there before, is not negative", () => {
  const before = { ...reading, cpuMs: 900, io: null, stalledMs: null };
  expect(usageSince(before, reading)).toMatchObject({ cpuMs: 0, io: reading.io, stalledMs: reading.stalledMs });
  expect(usageSince(before, { ...reading, io: null, stalledMs: null })).toMatchObject({ io: null, stalledMs: null });
});

test("in a new group everything is the attempt's", () => {
  expect(usageSince(null, reading)).toBe(reading);
});
