// Figures as Prometheus reads them, character by character.

import { expect, test } from "vitest";
import { createTally, ECHO_EVERY } from "../../src/metrics/tally.ts";
import { exposition, histogram } from "../../src/metrics/text.ts";

test("families, labels and escapes are formatted", () => {
  const text = exposition(
    [
      { name: "a_total", kind: "counter", help: "As.", samples: [{ value: 3 }] },
      { name: "b", kind: "gauge", help: "Bs.", samples: [{ labels: { how: 'a "b"\\\n' }, value: 0.5 }] },
      { name: "unknown", kind: "gauge", help: "Nothing is known of it.", samples: [] },
    ],
    { node_id: "n1" },
  );
  expect(text).toBe(
    [
      "# HELP a_total As.",
      "# TYPE a_total counter",
      'a_total{node_id="n1"} 3',
      "# HELP b Bs.",
      "# TYPE b gauge",
      'b{node_id="n1",how="a \\"b\\"\\\\\\n"} 0.5',
      "",
    ].join("\n"),
  );
});

test("histogram buckets are cumulative", () => {
  const times = histogram([1, 2]);
  for (const value of [0.5, 1, 1.5, 9]) times.observe(value);
  expect(times.samples()).toEqual([
    { suffix: "_bucket", labels: { le: "1" }, value: 2 },
    { suffix: "_bucket", labels: { le: "2" }, value: 3 },
    { suffix: "_bucket", labels: { le: "+Inf" }, value: 4 },
    { suffix: "_sum", value: 12 },
    { suffix: "_count", value: 4 },
  ]);
});

test("the first and every sixth heartbeat request an echo, which is matched to its heartbeat", () => {
  let clock = 0;
  const tally = createTally(() => clock);
  const asked = Array.from({ length: 2 * ECHO_EVERY }, (_, n) => tally.beat(n + 1, 1_000 * n));
  expect(asked.flatMap((wanted, n) => (wanted ? [n + 1] : []))).toEqual([1, 1 + ECHO_EVERY]);
  clock = 4;
  // For an abandoned heartbeat, and for one that was never sent.
  tally.echoed(1);
  tally.echoed(99);
  expect(tally.read().heartbeat.samples().at(-1)?.value).toBe(0);
  tally.echoed(1 + ECHO_EVERY);
  // Nothing is counted twice.
  tally.echoed(1 + ECHO_EVERY);
  expect(tally.read().heartbeat.samples().slice(-2)).toEqual([
    { suffix: "_sum", value: 0.004 },
    { suffix: "_count", value: 1 },
  ]);
  expect(tally.read().lastBeatMs).toBe(11_000);
});

test("attempts are counted by result", () => {
  const tally = createTally(() => 0);
  tally.ended({ kind: "completed", exitCode: 0, message: "", atMs: 1 });
  tally.ended({ kind: "failed", reason: "oom", exitCode: null, message: "", atMs: 1 });
  tally.ended({ kind: "failed", reason: "oom", exitCode: null, message: "", atMs: 2 });
  expect([...tally.read().ended]).toEqual([
    ["completed", 1],
    ["oom", 2],
  ]);
});
