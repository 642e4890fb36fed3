// CPU use between two samples, and metrics from an untrusted file.

import { pino } from "pino";
import { expect, test, vi } from "vitest";
import { ticksIn } from "../../src/host/cpu-time.ts";
import { meter } from "../../src/telemetry/meter.ts";
import { parseReported } from "../../src/telemetry/reported-metrics.ts";

test("CPU utilization is a fraction of the cores, from the second measurement on", async () => {
  let now = 0;
  let used = 0;
  const due: (() => void)[] = [];
  const figures = meter({
    cpuMs: async () => used,
    now: () => now,
    log: pino({ level: "silent" }),
    after: (_, act) => {
      due.push(act);
      return () => {};
    },
  });
  /** It arranges the next look when this one is done. */
  const look = async () => {
    due.shift()?.();
    await vi.waitFor(() => expect(due).toHaveLength(1), 60_000);
  };
  figures.start("7.1", { cores: 2, reported: async () => "queue_depth 17\n" });
  await look();
  expect(figures.newest()).toEqual([{ key: "7.1", values: { queue_depth: 17 } }]);
  now = 1_000;
  used = 1_500;
  await look();
  expect(figures.newest()[0]?.values).toEqual({ cpu_utilization: 0.75, queue_depth: 17 });
  figures.stop("7.1");
  expect(figures.newest()).toEqual([]);
  figures.close();
});

test("only names with numbers are accepted", () => {
  expect(parseReported("a 1\nb x\n c 2.5e1 \na 3\n; rm -rf\n__proto__ 4\n")).toMatchObject({ a: 3, c: 25 });
  expect(Object.keys(parseReported(Array.from({ length: 500 }, (_, i) => `n${i} 1`).join("\n"))).length).toBe(64);
});

test("a name with brackets does not shift the fields of a process", () => {
  expect(ticksIn("12 (a) b) c) S 1 1 1 0 -1 4 0 0 0 0 10 20 3 4 20 0 1")).toBe(37);
  expect(ticksIn("")).toBe(0);
});
