// The policy of a vCluster: one row per scheduler, changed by the vCluster's own settings, except for sensitive work.

import { DEFAULT_LENDING, duration, policyOf, type SchedulerKind, type VCluster, WEIGHT_PROFILES } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { problemList } from "../../../src/model/checks.ts";
import { checkVCluster } from "../../../src/model/vcluster/check.ts";
import { vclusterId } from "../../support/cluster.ts";

const vcluster = (scheduler: SchedulerKind = "hpc_backfill", change: Partial<VCluster> = {}): VCluster => ({
  id: vclusterId("v"),
  description: "",
  tenant: null,
  scheduler,
  weights: WEIGHT_PROFILES[scheduler],
  cycleInterval: duration(5000),
  backfillDepth: 10,
  defaultWalltime: duration(60_000),
  maxWalltime: null,
  isDefault: false,
  createdAt: 0 as VCluster["createdAt"],
  ...change,
});

const COMMON = {
  order: "score",
  wait: "elapsed",
  preempts: true,
  maxVictims: 3,
  preemptible: "always",
  nearCompletion: 300_000,
  packs: false,
  borrows: true,
  sharesNodes: false,
  lending: null,
  sensitive: false,
};

describe("the policy of a scheduler", () => {
  it.each<[SchedulerKind, object]>([
    ["hpc_backfill", { wait: "proportional" }],
    ["ml_training", {}],
    ["service_bin_pack", { preemptible: "borrowed", packs: true }],
    ["interactive_fifo", { order: "submission" }],
    ["sensitive_reservation", { preemptible: "never", borrows: false, sensitive: true }],
  ])("%s differs from the common one by %j", (scheduler, difference) => {
    expect(policyOf(vcluster(scheduler))).toEqual({ ...COMMON, ...difference });
  });

  it("is changed by the settings of the vCluster", () => {
    const change = {
      preempts: false,
      preemptible: "never",
      borrows: false,
      sharesNodes: true,
      lending: DEFAULT_LENDING,
      nearCompletion: duration(1),
      maxVictims: 9,
    } as const;
    expect(policyOf(vcluster("ml_training", change))).toEqual({ ...COMMON, ...change });
  });

  it("for sensitive work cannot be opened by settings", () => {
    const opened = vcluster("sensitive_reservation", {
      preemptible: "always",
      borrows: true,
      sharesNodes: true,
      lending: DEFAULT_LENDING,
    });
    expect(policyOf(opened)).toMatchObject({
      preemptible: "never",
      borrows: false,
      sharesNodes: false,
      lending: null,
      sensitive: true,
    });
  });

  it("is the same object for the same record, and another one after an update", () => {
    const record = vcluster();
    expect(policyOf(record)).toBe(policyOf(record));
    expect(policyOf({ ...record, borrows: false }).borrows).toBe(false);
  });
});

const faults = (change: Partial<VCluster>, scheduler: SchedulerKind = "hpc_backfill"): readonly string[] => {
  const problems = problemList();
  checkVCluster(problems, vcluster(scheduler, change));
  return problems.list.map(({ field }) => field);
};

const lending = (change: Partial<typeof DEFAULT_LENDING>): Partial<VCluster> => ({
  lending: { ...DEFAULT_LENDING, ...change },
});
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TEN_YEARS = 10 * 365 * DAY;

describe("the settings of a vCluster", () => {
  it.each<[string, Partial<VCluster>]>([
    ["a long description", { description: "x".repeat(1024) }],
    ["a weight of zero", { weights: { ...WEIGHT_PROFILES.hpc_backfill, energy: 0 } }],
    ["the highest weight", { weights: { ...WEIGHT_PROFILES.hpc_backfill, energy: 1_000_000 } }],
    ["a cycle of a millisecond", { cycleInterval: duration(1) }],
    ["a cycle of an hour", { cycleInterval: duration(HOUR) }],
    ["no backfill", { backfillDepth: 0 }],
    ["the deepest backfill", { backfillDepth: 10_000 }],
    ["equal walltimes", { defaultWalltime: duration(5), maxWalltime: duration(5) }],
    ["the longest walltime", { maxWalltime: duration(TEN_YEARS) }],
    ["a day near completion", { nearCompletion: duration(DAY) }],
    ["one victim", { maxVictims: 1 }],
    ["64 victims", { maxVictims: 64 }],
    ["lending without limits", lending({ keepNodes: 0, maxClass: 10, maxDuration: null })],
    ["lending for the shortest grace", lending({ returnGrace: duration(1000) })],
    ["lending for the longest grace", lending({ returnGrace: duration(HOUR) })],
    ["no lending", { lending: null }],
  ])("may have %s", (_name, change) => {
    expect(faults(change)).toEqual([]);
  });

  it.each<[string, Partial<VCluster>]>([
    ["description", { description: "x".repeat(1025) }],
    ["description", { description: "a\0" }],
    ["weights.energy", { weights: { ...WEIGHT_PROFILES.hpc_backfill, energy: -1 } }],
    ["weights.energy", { weights: { ...WEIGHT_PROFILES.hpc_backfill, energy: 1_000_001 } }],
    ["weights.priority", { weights: { ...WEIGHT_PROFILES.hpc_backfill, priority: 0.5 } }],
    ["cycle_interval_seconds", { cycleInterval: duration(0) }],
    ["cycle_interval_seconds", { cycleInterval: duration(HOUR + 1) }],
    ["backfill_depth", { backfillDepth: -1 }],
    ["backfill_depth", { backfillDepth: 10_001 }],
    ["default_walltime_seconds", { defaultWalltime: duration(0) }],
    ["default_walltime_seconds", { defaultWalltime: duration(6), maxWalltime: duration(5) }],
    ["max_walltime_seconds", { maxWalltime: duration(TEN_YEARS + 1) }],
    ["near_completion_threshold_seconds", { nearCompletion: duration(DAY + 1) }],
    ["near_completion_threshold_seconds", { nearCompletion: -1 as VCluster["cycleInterval"] }],
    ["max_victims", { maxVictims: 0 }],
    ["max_victims", { maxVictims: 65 }],
    ["preemptible", { preemptible: "sometimes" as never }],
    ["lending.keep_nodes", lending({ keepNodes: -1 })],
    ["lending.max_class", lending({ maxClass: 11 })],
    ["lending.max_duration_seconds", lending({ maxDuration: duration(0) })],
    ["lending.return_grace_seconds", lending({ returnGrace: duration(999) })],
    ["lending.return_grace_seconds", lending({ returnGrace: duration(HOUR + 1) })],
  ])("name the field %s when it is wrong: %j", (field, change) => {
    expect(faults(change)).toEqual([field]);
  });

  it("name each wrong weight", () => {
    const weights = { ...WEIGHT_PROFILES.hpc_backfill, topology: -1, backlog: Number.NaN };
    expect(faults({ weights })).toEqual(["weights.topology", "weights.backlog"]);
  });

  it.each<[string, Partial<VCluster>]>([
    ["borrows", { borrows: true }],
    ["lending", { lending: DEFAULT_LENDING }],
    ["preemptible", { preemptible: "borrowed" }],
    ["shares_nodes", { sharesNodes: true }],
  ])("of sensitive work do not include %s", (field, change) => {
    expect(faults(change, "sensitive_reservation")).toEqual([field]);
  });

  it("of sensitive work may repeat the fixed values", () => {
    const change = { borrows: false, lending: null, preemptible: "never", sharesNodes: false } as const;
    expect(faults(change, "sensitive_reservation")).toEqual([]);
  });
});
