// Scaling of services: windows, cooldown, bounds, missing metrics, quotas, rejections, rolling updates, choice of nodes.

import {
  type Allocation,
  type AllocationId,
  createState,
  duration,
  type Instant,
  instant,
  NO_CONSTRAINTS,
  type NodeId,
  type ScalePolicy,
  type State,
  type View,
} from "@lattice/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideScaling, type ScalingIntent } from "../../../src/lead/controllers/scaling/decide.ts";
import {
  afterOutcome,
  MAX_REJECTIONS,
  type ScalingMemory,
  UNWATCHED,
} from "../../../src/lead/controllers/scaling/memory.ts";

const POLICY: ScalePolicy = {
  minNodes: 1,
  maxNodes: 3,
  metric: "queue_depth",
  targetMilli: 100_000,
  evaluationInterval: duration(10_000),
  upWindow: duration(20_000),
  downWindow: duration(50_000),
  downThresholdMilli: 500,
  cooldown: duration(30_000),
};

interface Scene {
  readonly nodes: readonly string[];
  readonly free?: readonly string[];
  readonly record?: object;
  readonly kind?: "reactive" | "unbounded";
  readonly maxNodes?: number | null;
  readonly homes?: Readonly<Record<string, string>>;
  readonly starting?: boolean;
  readonly probed?: (node: NodeId) => boolean;
}

function serviceOf({ nodes, record = {}, kind = "reactive", starting = false }: Scene): Allocation {
  const progress = nodes.map((_, i) => ({
    state: starting && i === nodes.length - 1 ? "ordered" : "running",
    exitCode: null,
    message: "",
  }));
  return {
    id: "7",
    user: "ada",
    attempt: nodes.length,
    requeues: 0,
    excludedNodes: [],
    phase: { kind: "running", nodes, progress, attempts: nodes.map((_, i) => i + 1), startedAt: 0, placedAt: 0 },
    spec: {
      tenant: "physics",
      vcluster: "service",
      lifecycle: { kind, walltime: null, ...(kind === "reactive" ? { scale: POLICY } : {}) },
      resources: {
        minNodes: kind === "reactive" ? 1 : nodes.length,
        maxNodes: kind === "reactive" ? 1 : nodes.length,
        constraints: NO_CONSTRAINTS,
      },
    },
    ...record,
  } as unknown as Allocation;
}

function viewOf(scene: Scene): View {
  const empty: State = createState();
  const service = serviceOf(scene);
  const node = (id: string, free: boolean) => ({
    id,
    group: "g1",
    homeVCluster: scene.homes?.[id] ?? null,
    state: { kind: "ready" },
    claims: free ? [] : [{}],
    capabilities: { cpuCores: 8, memoryBytes: 1, gpuType: "", gpuCount: 0, features: [] },
  });
  const all = [...scene.nodes.map((id) => node(id, false)), ...(scene.free ?? []).map((id) => node(id, true))];
  return {
    ...empty,
    placed: () => [service],
    allocation: () => service,
    node: (id: NodeId) => all.find((each) => each.id === id),
    nodes: () => all,
    tenant: () => ({ quota: { maxNodes: scene.maxNodes ?? null } }),
    usage: () => ({ nodes: scene.nodes.length, running: 1 }),
  } as unknown as View;
}

/** Evaluates every ten seconds and returns the decisions. */
function looks(scene: Scene, values: readonly (number | null)[]): readonly (readonly ScalingIntent[])[] {
  let memory: ScalingMemory = new Map();
  return values.map((value, i) => {
    const now = instant(1_000_000 + i * 10_000);
    const inputs = { view: viewOf(scene), reachable: () => true, reserved: () => false, now, wallNow: now, memory };
    const verdict = decideScaling({ ...inputs, reading: () => value, probed: scene.probed ?? (() => false) });
    memory = verdict.memory;
    return verdict.intents;
  });
}
const short = (intents: readonly ScalingIntent[]): string =>
  intents.map((i) => (i.kind === "allocation.scale" ? `${i.change} ${i.node} ${i.reason}` : i.kind)).join(", ");

describe("a service with a metric", () => {
  it("grows after the window", () => {
    const scene = { nodes: ["n1"], free: ["n2", "n3"] };
    expect(looks(scene, [140, 140, 140]).map(short)).toEqual(["", "", "add n2 metric"]);
    expect(looks(scene, [140, 90, 140, 140]).map(short)).toEqual(["", "", "", ""]);
  });

  it("shrinks after the longer window, newest node first", () => {
    const scene = { nodes: ["n1", "n2"] };
    expect(looks(scene, [40, 40, 40, 40, 40, 40]).map(short)).toEqual(["", "", "", "", "", "remove n2 metric"]);
    expect(looks(scene, [60, 60, 60, 60, 60, 60, 60]).map(short).join("")).toBe("");
    expect(
      looks({ nodes: ["n1"] }, [1, 1, 1, 1, 1, 1, 1])
        .map(short)
        .join(""),
    ).toBe("");
  });

  it("waits for the cooldown and for starting nodes, and respects its maximum and the quota", () => {
    const scaling = { at: instant(1_005_000), direction: "up", turns: 0 };
    const cooling = { nodes: ["n1", "n2"], free: ["n3"], record: { scaling } };
    expect(looks(cooling, [140, 140, 140, 140]).map(short)).toEqual(["", "", "", ""]);
    expect(looks(cooling, [140, 140, 140, 140, 140]).map(short).at(-1)).toBe("add n3 metric");
    const starting = { nodes: ["n1", "n2"], free: ["n3"], starting: true };
    expect(looks(starting, [140, 140, 140, 140]).map(short).join("")).toBe("");
    expect(
      looks({ nodes: ["n1", "n2", "n3"], free: ["n4"] }, [140, 140, 140])
        .map(short)
        .join(""),
    ).toBe("");
    expect(
      looks({ nodes: ["n1"], free: ["n2"], maxNodes: 1 }, [140, 140, 140])
        .map(short)
        .join(""),
    ).toBe("");
  });

  it("keeps its size without a metric, and raises a notice at the third evaluation", () => {
    const scene = { nodes: ["n1"], free: ["n2"] };
    expect(looks(scene, [140, null, 140, 140]).map(short)).toEqual(["", "", "", ""]);
    expect(looks(scene, [null, null, null]).map(short)).toEqual(["", "", "notice.raise"]);
  });

  it("is not changed for two cooldowns after three rejections", () => {
    let watched = UNWATCHED;
    for (let i = 0; i < MAX_REJECTIONS; i += 1) watched = afterOutcome(watched, false, instant(0) as Instant, 30_000);
    expect(watched).toMatchObject({ rejected: 0, quietUntil: 60_000 });
    const memory: ScalingMemory = new Map([["7" as AllocationId, watched]]);
    const inputs = {
      view: viewOf({ nodes: ["n1"], free: ["n2"] }),
      reachable: () => true,
      reserved: () => false,
      memory,
    };
    const at = (now: number) =>
      decideScaling({
        ...inputs,
        now: instant(now),
        wallNow: instant(now),
        reading: () => 140,
        probed: () => false,
      }).memory.get("7" as AllocationId);
    expect(at(59_999)?.evaluatedAt).toBeNull();
    expect(at(60_000)?.evaluatedAt).toBe(60_000);
  });

  it("never leaves its bounds for any metric", () => {
    const value = fc.option(fc.integer({ min: 0, max: 300 }), { freq: 5 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3 }), fc.array(value, { maxLength: 30 }), (size, values) => {
        const nodes = ["n1", "n2", "n3"].slice(0, size);
        for (const intents of looks({ nodes, free: ["n8", "n9"] }, values)) {
          const scales = intents.filter((intent) => intent.kind === "allocation.scale");
          expect(scales.length).toBeLessThanOrEqual(1);
          for (const { change } of scales) expect(change === "add" ? size < 3 : size > 1).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe("other rules", () => {
  it("a service below its minimum gets a node at once, or a notice", () => {
    const scene: Scene = { nodes: ["n1"], kind: "reactive", record: {} };
    const short1 = serviceOf(scene);
    const two = { ...short1.spec, resources: { ...short1.spec.resources, minNodes: 2, maxNodes: 2 } };
    expect(looks({ ...scene, free: ["n2"], record: { spec: two } }, [null]).map(short)).toEqual(["add n2 minimum"]);
    expect(looks({ ...scene, record: { spec: two } }, [null]).map(short)).toEqual(["notice.raise"]);
  });

  it("borrowed nodes come last, and only above the minimum", () => {
    const homes = { n2: "lender", n3: "service" };
    expect(
      looks({ nodes: ["n1"], free: ["n2", "n3"], homes }, [140, 140, 140])
        .map(short)
        .at(-1),
    ).toBe("add n3 metric");
  });

  it("a service above its maximum loses a node for any metric", () => {
    const nodes = ["n1", "n2", "n3", "n4"];
    expect(looks({ nodes, free: ["n5"] }, [null]).map(short)).toEqual(["remove n4 maximum"]);
    expect(looks({ nodes, free: ["n5"] }, [500]).map(short)).toEqual(["remove n4 maximum"]);
    expect(looks({ nodes: nodes.slice(1) }, [null]).map(short)).toEqual([""]);
  });

  it("an update replaces node by node, with an extra node if one is free", () => {
    const renewal = { through: 2, size: 2 };
    const old: Scene = { nodes: ["n1", "n2"], kind: "unbounded", record: { renewal } };
    expect(looks({ ...old, free: ["n3"] }, [null]).map(short)).toEqual(["add n3 renewal"]);
    expect(looks({ ...old, nodes: ["n1", "n2", "n3"] }, [null]).map(short)).toEqual(["remove n2 renewal"]);
    expect(looks(old, [null]).map(short)).toEqual(["remove n2 renewal"]);
    const alone: Scene = { nodes: ["n1"], kind: "unbounded", record: { renewal: { through: 1, size: 1 } } };
    expect(looks(alone, [null]).map(short)).toEqual(["allocation.requeue"]);
    const done: Scene = { nodes: ["n1"], kind: "unbounded", record: { renewal: { through: 0, size: 1 } } };
    expect(looks(done, [null]).map(short)).toEqual([""]);
  });

  it("an update waits until the probe passes, or for the time in which it would have failed", () => {
    const { spec, phase } = serviceOf({ nodes: ["n1", "n2", "n3"], kind: "unbounded" });
    const probe = { initialDelay: 5_000, failureThreshold: 1, period: 5_000, timeout: 1_000 };
    const record = (since: number, more: object) => ({
      renewal: { through: 2, size: 2 },
      spec: { ...spec, ...more },
      phase: { ...phase, countedFrom: instant(1_000_000 - since) },
    });
    const scene = (since: number, more: object): Scene => ({
      nodes: ["n1", "n2", "n3"],
      kind: "unbounded",
      record: record(since, more),
    });
    expect(looks(scene(2_000, {}), [null]).map(short)).toEqual([""]);
    expect(looks(scene(3_000, {}), [null]).map(short)).toEqual(["remove n2 renewal"]);
    expect(looks(scene(16_000, { probe }), [null]).map(short)).toEqual([""]);
    expect(looks(scene(17_000, { probe }), [null]).map(short)).toEqual(["remove n2 renewal"]);
    const answers: Scene = { ...scene(1_000, { probe }), probed: (node) => node === "n3" };
    expect(looks(answers, [null]).map(short)).toEqual(["remove n2 renewal"]);
  });

  it("a halted update changes nothing, and the notice of a service below its minimum has the reason", () => {
    const renewal = { through: 2, size: 2, halted: instant(1) };
    const halted: Scene = { nodes: ["n1", "n2"], free: ["n3"], kind: "unbounded", record: { renewal } };
    expect(looks(halted, [null]).map(short)).toEqual([""]);
    const reactive: Scene = { nodes: ["n1", "n2"], free: ["n3"], record: { renewal } };
    expect(looks(reactive, [140, 140, 140, 140]).map(short).join("")).toBe("");
    const { spec } = serviceOf({ nodes: ["n1", "n2", "n3"], kind: "unbounded" });
    const text = (scene: Scene) =>
      looks(scene, [null])[0]?.map((intent) => (intent.kind === "notice.raise" ? intent.notice.text : intent.kind));
    expect(text({ ...halted, record: { renewal, spec } })).toEqual([
      "service 7 runs on 2 of at least 3 nodes, and its update is halted: another node would run the failed version",
    ]);
    expect(text({ nodes: ["n1", "n2"], free: ["n3"], maxNodes: 2, kind: "unbounded", record: { spec } })).toEqual([
      'service 7 runs on 2 of at least 3 nodes, and the quota of tenant "physics" has no room for another node',
    ]);
  });

  it("a restart starts the cooldown again", () => {
    const { phase } = serviceOf({ nodes: ["n1"] });
    const record = { past: { attempts: [{}], refusals: [] }, phase: { ...phase, startedAt: instant(1_005_000) } };
    const scene: Scene = { nodes: ["n1"], free: ["n2"], record };
    expect(looks(scene, [140, 140, 140, 140, 140]).map(short)).toEqual(["", "", "", "", "add n2 metric"]);
  });
});
