// node.register: the limits of a registration, and the reason of the event.

import type { Capabilities, Command } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { createCluster, register, verdict } from "../../support/cluster.ts";
import { eventsOf, fieldsOf } from "../../support/placing.ts";

const BASE: Capabilities = {
  cpuCores: 8,
  memoryBytes: 1024,
  gpuType: "",
  gpuCount: 0,
  features: [],
  hostname: "n1",
  kernel: "6.1",
  isolation: "cgroup",
  hollow: false,
};
const having = (change: Partial<Capabilities>): Command => register("n1", { capabilities: { ...BASE, ...change } });
const features = (count: number) => Array.from({ length: count }, (_, i) => `f${i}`);

describe("a registration", () => {
  it.each<[string, Partial<Capabilities>]>([
    ["no cores, GPUs, memory or power", { cpuCores: 0, gpuCount: 0, memoryBytes: 0, powerWatts: 0, cxlMemoryBytes: 0 }],
    ["the most cores and GPUs", { cpuCores: 1_000_000, gpuCount: 1_000_000, powerWatts: 1_000_000 }],
    ["1024 features", { features: features(1024) }],
    ["a feature of 128 characters", { features: ["x".repeat(128)] }],
  ])("with %s is accepted", (_what, change) => {
    expect(verdict(createCluster().one(having(change)))).toBe("accepted");
  });

  it.each<[string, Partial<Capabilities>]>([
    ["cpu_cores", { cpuCores: -1 }],
    ["cpu_cores", { cpuCores: 1_000_001 }],
    ["gpu_count", { gpuCount: -1 }],
    ["gpu_count", { gpuCount: 0.5 }],
    ["memory_bytes", { memoryBytes: -1 }],
    ["memory_bytes", { memoryBytes: 1.5 }],
    ["cxl_memory_bytes", { cxlMemoryBytes: -1 }],
    ["power_watts", { powerWatts: 1_000_001 }],
    ["features", { features: features(1025) }],
    ["features", { features: ["x".repeat(129)] }],
    ["features", { features: ["a\0b"] }],
  ])("with a wrong %s names the field and adds no node: %j", (field, change) => {
    const c = createCluster();
    expect(fieldsOf(c.one(having(change)))).toEqual([`capabilities.${field}`]);
    expect(c.state.nodeCount).toBe(0);
  });

  it.each([
    ["", "a", "registered"],
    ["a", "a", "registered"],
    ["a", "b", "conformance_changed"],
  ])("that changes conformance from %j to %j has the reason %s", (before, after, reason) => {
    const c = createCluster(register("n1", { conformance: before }));
    const applied = c.apply(register("n1", { conformance: after, bootId: "b2" }));
    expect(eventsOf(applied, "node_changed")).toMatchObject([{ node: "n1", from: "ready", to: "ready", reason }]);
  });
});
