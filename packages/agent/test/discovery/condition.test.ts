// The condition of a node as its agent keeps and tells it: a real agent with a stand-in for NVML, whose GPUs
// fall off the bus, lose data and get another driver while it runs.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DEFAULT_DISCOVERY } from "../../src/options/discovery.ts";
import { found } from "../fake-server.ts";
import { type Rig, rig } from "../rig.ts";

const folder = mkdtempSync(join(tmpdir(), "lattice-condition-"));
const library = join(folder, "libnvidia-ml.so.1");
let r: Rig;

beforeAll(async () => {
  execFileSync("gcc", ["-shared", "-fPIC", "-o", library, join(import.meta.dirname, "fake-nvml.c")]);
  process.env.NVML_FAKE = "gpus=4";
  const discovery = { ...DEFAULT_DISCOVERY, nvml: library, lookEveryMs: 200 };
  r = await rig({ options: { discovery } });
});
afterAll(async () => {
  await r.close();
  delete process.env.NVML_FAKE;
  rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
});

const ask = async (fresh: boolean): Promise<pb.NodeCondition> => {
  const requestId = `q${r.server.answers.length}`;
  const value = create(pb.GetNodeConditionRequestSchema, { fresh });
  const request = create(pb.ImageRequestSchema, { requestId, ask: { case: "condition", value } });
  r.server.send({ case: "imageRequest", value: request });
  const answer = await found(() => r.server.answers.find((one) => one.requestId === requestId));
  if (answer.condition === undefined) throw new Error(answer.error);
  return answer.condition;
};

it("the Hello names the GPUs, and a request lists all of them", async () => {
  const [hello] = r.server.hellos;
  expect(hello?.capabilities).toMatchObject({ gpuCount: 4, gpuType: "H100" });
  expect(hello?.capabilities?.gpuTopology?.links).toHaveLength(6);
  const { gpus, faults, components, conformance } = await ask(false);
  expect(gpus.map(({ uuid }) => uuid)).toEqual(["GPU-00000000", "GPU-00000001", "GPU-00000002", "GPU-00000003"]);
  expect(faults).toEqual([]);
  expect(components).toMatchObject({ gpu_driver: "580.159.04", gpu_firmware: "96.00.61", gpus: "4 H100" });
  expect(conformance).toBe(hello?.conformance);
});

it("reports new faults on its own, and again to every server that welcomes it", async () => {
  process.env.NVML_FAKE = "gpus=4 ecc=2";
  const reported = await found(() => r.server.conditions.find(({ faults }) => faults.length > 0));
  expect(reported.faults).toEqual(["GPU 0: 2 uncorrectable memory errors"]);
  process.env.NVML_FAKE = "gpus=3";
  await found(() => r.server.conditions.find(({ faults }) => faults[0] === "3 of 4 GPUs are present"));
  r.server.conditions.length = 0;
  await r.restart();
  // The agent before knew of four.
  const after = await found(() => r.server.conditions.find(({ faults }) => faults.length > 0));
  expect(after.faults).toEqual(["3 of 4 GPUs are present"]);
});

it("takes a new fingerprint on request and reports the differences", async () => {
  process.env.NVML_FAKE = "gpus=4 mig=2";
  const before = r.server.hellos.at(-1)?.conformance;
  const { gpus, conformance, faults } = await ask(true);
  expect(faults).toEqual([]);
  expect(gpus).toHaveLength(8);
  expect(conformance).not.toBe(before);
  const reported = await found(() => r.server.conditions.find((one) => one.conformance === conformance));
  expect(reported.capabilities).toMatchObject({ gpuCount: 8 });
});
