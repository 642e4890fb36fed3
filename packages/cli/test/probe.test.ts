// Liveness probes on the command line.

import { expect, test } from "vitest";
import { parseProbe } from "../src/parse/probe.ts";
import { useScripted } from "./scripted.ts";

test.each([
  ["tcp:8080", { probe_type: "tcp", port: 8080 }],
  ["http:80", { probe_type: "http", port: 80, path: "/" }],
  [
    "http:80/up?a=b,period=5,delay=1,failures=2,timeout=3",
    {
      probe_type: "http",
      port: 80,
      path: "/up?a=b",
      period_secs: 5,
      initial_delay_secs: 1,
      failure_threshold: 2,
      timeout_secs: 3,
    },
  ],
])("%s", (text, form) => {
  expect(parseProbe(text)).toEqual(form);
});

test.each(["", "8080", "udp:1", "tcp:80/path", "http:", "http:80/,often=1", "tcp:80,period=x", "tcp:80,toString=1"])(
  "%j is refused",
  (text) => {
    expect(() => parseProbe(text)).toThrow(/tcp:8080 or http|none of its settings/);
  },
);

const rig = useScripted();

test.each([
  ["none", { remove_liveness_probe: true }],
  ["tcp:80,period=2", { liveness_probe: { probe_type: "tcp", port: 80, period_secs: 2 } }],
])("an update to %s", async (text, service) => {
  rig.answers["PATCH /api/v1/allocations/7"] = [200, { allocation: { id: "7", state: "running" } }];
  expect(await rig.run("update", "7", `--probe=${text}`)).toBe(0);
  expect(JSON.parse(rig.bodies.at(-1) ?? "")).toMatchObject({ service });
});
