// `--dependency=singleton`: the dependencies of the submission.
import { expect, test } from "vitest";
import { runSlurm } from "../../src/slurm/program.ts";
import { useScripted } from "../scripted.ts";

const rig = useScripted();

test("jobs of the same name without singleton become explicit dependencies", async () => {
  const spec = { name: "train", vcluster: "debug" };
  const allocations = [
    { id: "7", state: "running", spec },
    { id: "8", state: "pending", spec: { ...spec, depends_on: [{ ref: "train", condition: "mutex" }] } },
  ];
  rig.answers = {
    "GET /api/v1/allocations": [200, { allocations }],
    "POST /api/v1/allocations": [200, { id: "9" }],
  };
  expect(await runSlurm("sbatch", ["-J", "train", "-d", "singleton,afterok:5", "--wrap", "hostname"])).toBe(0);
  expect(rig.requests[0]).toContain("name=train");
  expect(JSON.parse(rig.bodies.at(-1) ?? "")).toMatchObject({
    depends_on: [
      { ref: "train", condition: "mutex" },
      { ref: "5", condition: "success" },
      { ref: "7", condition: "any" },
    ],
  });
  rig.requests = [];
  expect(await runSlurm("sbatch", ["--wrap", "hostname"])).toBe(0);
  expect(rig.requests).toEqual(["POST /api/v1/allocations"]);
});
