// The order that a claim requires when its node reconnects.

import type { Allocation, Claim, NodeId, NodeProgress, View } from "@lattice/core";
import { describe, expect, it } from "vitest";
import { orderOf } from "../../../src/nodes/agents/orders.ts";

const nodes = ["n1", "n2"] as NodeId[];

function record(state: NodeProgress["state"]): Allocation {
  const progress = [
    { state, exitCode: null, message: "" },
    { state: "running", exitCode: null, message: "" },
  ];
  const spec = {
    task: { kind: "entrypoint", line: "true" },
    environment: { variables: {}, workdir: "" },
    resources: { tasksPerNode: 1, constraints: { cpuCores: 4, memoryBytes: 2 * 1024 ** 3, gpuCount: 1 } },
    lifecycle: { walltime: 60_000 },
  };
  return { id: "7", attempt: 1, spec, phase: { kind: "staging", nodes, progress } } as unknown as Allocation;
}

const order = (state: NodeProgress["state"], claim: Partial<Claim> = {}) => {
  const { share } = claim;
  const view = { allocation: () => ({ ...record(state), ...(share && { share }) }) } as unknown as View;
  return orderOf(view, "n1" as NodeId, { allocation: "7", attempt: 1, releasing: false, ...claim } as Claim);
};

describe("the order of a claim", () => {
  it("is to run while the node has not ended its part", () => {
    expect(order("ordered")?.case).toBe("run");
    expect(order("running")?.case).toBe("run");
  });

  it("has no fields for software and limits that were not requested, and limits a share of a node", () => {
    const whole = order("ordered", { exclusive: true });
    expect(whole?.case === "run" && [whole.value.environment, whole.value.limits, whole.value.mounts]).toEqual([
      ...[undefined, undefined, []],
    ]);
    const share = { cpuCores: 4, memoryBytes: 2 * 1024 ** 3, gpuCount: 1, part: 512 };
    const shared = order("ordered", { exclusive: false, share });
    expect(shared?.case === "run" && shared.value.limits).toMatchObject({ cpuCores: 4, memoryGb: 2, gpuCount: 1 });
  });

  it("is absent once the node has ended its part and the others have not", () => {
    expect(order("completed")).toBeNull();
  });

  it("is to stop when the claim is being released or belongs to an older attempt", () => {
    expect(order("completed", { releasing: true })?.case).toBe("stop");
    expect(order("running", { attempt: 2 as Claim["attempt"] })?.case).toBe("stop");
  });
});
