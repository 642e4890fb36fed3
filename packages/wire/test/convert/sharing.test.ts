// How vClusters share nodes, and the inside of a node, over the wire and back.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type Capabilities,
  DEFAULT_LENDING,
  duration,
  instant,
  type VCluster,
  type VClusterId,
  WEIGHT_PROFILES,
} from "@lattice/core";
import { describe, expect, test } from "vitest";
import { capabilitiesFromProto, capabilitiesToProto, pb, sharingFromProto, vclusterToProto } from "../../src/index.ts";

const vcluster = (change: Partial<VCluster> = {}): VCluster => ({
  id: "service" as VClusterId,
  description: "",
  tenant: null,
  scheduler: "service_bin_pack",
  weights: WEIGHT_PROFILES.service_bin_pack,
  cycleInterval: duration(5000),
  backfillDepth: 1,
  defaultWalltime: duration(60_000),
  maxWalltime: null,
  isDefault: false,
  createdAt: instant(0),
  ...change,
});

describe("sharing", () => {
  test("the effective settings are shown: the scheduler's row with overrides", () => {
    const plain = vclusterToProto(vcluster());
    expect(plain).toMatchObject({ preempts: true, preemptible: pb.Preemptible.BORROWED, borrows: true });
    expect(plain.lending).toBeUndefined();
    expect(plain.nearCompletionThresholdSeconds).toBe(300);
    expect([plain.maxVictims, vclusterToProto(vcluster({ maxVictims: 9 })).maxVictims]).toEqual([3, 9]);
    expect(vclusterToProto(vcluster({ nearCompletion: duration(0) })).nearCompletionThresholdSeconds).toBe(0);
    const set = vclusterToProto(vcluster({ preempts: false, lending: { ...DEFAULT_LENDING, keepNodes: 3 } }));
    expect(set).toMatchObject({
      preempts: false,
      lending: { enabled: true, keepNodes: 3, maxClass: 4, returnGraceSeconds: 30 },
    });
  });

  const asked = (change: object) => create(pb.UpdateVClusterRequestSchema, change);

  test("only named terms change", () => {
    expect(sharingFromProto(asked({}), null)).toEqual({});
    expect(sharingFromProto(asked({ preempts: false, preemptible: pb.Preemptible.NEVER }), null)).toEqual({
      preempts: false,
      preemptible: "never",
    });
    expect(sharingFromProto(asked({ lending: {} }), null)).toEqual({ lending: DEFAULT_LENDING });
    expect(sharingFromProto(asked({ nearCompletionThresholdSeconds: 90 }), null)).toEqual({ nearCompletion: 90_000 });
    expect(sharingFromProto(asked({ maxVictims: 9 }), null)).toEqual({ maxVictims: 9 });
    const known = { ...DEFAULT_LENDING, keepNodes: 7, maxDuration: duration(1000) };
    expect(sharingFromProto(asked({ lending: { maxClass: 2 } }), known)).toEqual({
      lending: { ...known, maxClass: 2 },
    });
    expect(sharingFromProto(asked({ lending: { maxDurationSeconds: 0 } }), known).lending?.maxDuration).toBeNull();
    expect(sharingFromProto(asked({ lending: { enabled: false } }), known)).toEqual({ lending: null });
  });
});

describe("the topology of a node", () => {
  const plain: Capabilities = {
    cpuCores: 8,
    memoryBytes: 2 ** 34,
    gpuType: "GH200",
    gpuCount: 2,
    features: [],
    hostname: "n",
    kernel: "6",
    isolation: "cgroup2",
    hollow: false,
  };
  const overTheWire = (c: Capabilities): Capabilities =>
    capabilitiesFromProto(fromBinary(pb.CapabilitiesSchema, toBinary(pb.CapabilitiesSchema, capabilitiesToProto(c))));

  test("a topology survives a round trip, and stays unset if unreported", () => {
    expect(overTheWire(plain)).toEqual(plain);
    const full: Capabilities = {
      ...plain,
      cxlMemoryBytes: 2 ** 35,
      powerWatts: 1500,
      gpuTopology: {
        gpus: [0, 1].map((index) => ({
          index,
          vendor: "nvidia",
          model: "GH200",
          memoryBytes: 2 ** 36,
          partitioned: false,
        })),
        links: [{ a: 0, b: 1, kind: "nvlink", bandwidthMBps: 900_000 }],
        nicAffinity: { "0": "hsn0", "1": "hsn1" },
      },
      memoryTopology: {
        domains: [
          { id: 0, kind: "unified", capacityBytes: 2 ** 34, numaNode: 0, cpus: [0, 1], gpus: [0] },
          { id: 1, kind: "cxl", capacityBytes: 2 ** 35, numaNode: null, cpus: [], gpus: [] },
        ],
        interconnects: [{ a: 0, b: 1, kind: "cxl_switch", bandwidthMBps: 64_000 }],
      },
    };
    expect(overTheWire(full)).toEqual(full);
  });

  test.each([
    [{ cxlMemoryGb: -1 }, "cxl_memory_gb"],
    [{ gpuTopology: { gpus: [{ vendor: "acme" }] } }, "gpus.vendor"],
    [{ gpuTopology: { links: [{ kind: "string" }] } }, "links.kind"],
    [{ memoryTopology: { domains: [{ kind: "paper" }] } }, "domains.kind"],
    [{ memoryTopology: { interconnects: [{ kind: "pigeon" }] } }, "interconnects.kind"],
  ])("%j is refused by the name of its field", (given, field) => {
    expect(() => capabilitiesFromProto(create(pb.CapabilitiesSchema, given))).toThrow(field);
  });
});
