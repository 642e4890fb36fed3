// Which variables of the calling shell reach the tasks of srun.
import { expect, test } from "vitest";
import { batchSubmission, readBatchWords } from "../../src/slurm/sbatch.ts";
import { checkExported, exportedVariables, withCommandsFirst, withoutSearchPaths } from "../../src/slurm/variables.ts";
import { context } from "./slurm-context.ts";

const shell = {
  OMP_NUM_THREADS: "8",
  PATH: "/opt/bin:/bin",
  LD_LIBRARY_PATH: "/opt/lib",
  LD_PRELOAD: "/mine.so",
  HOME: "/home/me",
  PWD: "/tmp",
  LATTICE_TOKEN: "secret",
  SLURM_PROCID: "0",
  SLURMD_NODENAME: "n1",
  PMI_RANK: "0",
  HYDRA_LAUNCHER: "ssh",
  CUDA_VISIBLE_DEVICES: "0",
  OMPI_MCA_plm: "rsh",
  OMPI_MCA_btl: "tcp",
};

test("tasks get the environment without variables that describe the place", () => {
  expect(exportedVariables("ALL,X=1", shell)).toEqual({
    variables: {
      OMP_NUM_THREADS: "8",
      PATH: "/opt/bin:/bin",
      LD_LIBRARY_PATH: "/opt/lib",
      LD_PRELOAD: "/mine.so",
      OMPI_MCA_btl: "tcp",
      X: "1",
    },
    missing: [],
  });
});

test("LD_PRELOAD of a task is not exported", () => {
  expect(exportedVariables("ALL", { ...shell, LATTICE_LAUNCH_ID: "7.1.a.0" }).variables).not.toHaveProperty(
    "LD_PRELOAD",
  );
});

test("an environment that is too large is refused with the largest variable and the way out", () => {
  const large = Object.fromEntries(Array.from({ length: 3 }, (_, n) => [`V${n}`, "x".repeat(90_000 + n)]));
  expect(() => checkExported("sbatch", large)).toThrow(
    /^sbatch: error: the environment has 270012 bytes \(V2: 90005\), the limit is 262144; export less, with --export/,
  );
  expect(() => checkExported("sbatch", { X: "x".repeat(131_072) })).toThrow("the variable X has 131074 bytes");
  const many = Object.fromEntries(Array.from({ length: 1_025 }, (_, n) => [`V${n}`, ""]));
  expect(() => checkExported("sbatch", many)).toThrow("the environment has 1025 variables, the limit is 1024");
  expect(() => checkExported("sbatch", shell)).not.toThrow();
});

test("the commands of Lattice come before those of a real Slurm", () => {
  expect(withCommandsFirst({ PATH: "/usr/bin:/opt/slurm:/bin" }, "/opt/slurm")).toEqual({
    PATH: "/opt/slurm:/usr/bin:/bin",
  });
  expect(withCommandsFirst({ A: "1" }, "/opt/slurm")).toEqual({ A: "1" });
});

test("search paths of this machine are not exported into a container", () => {
  const env = { SEED: "7", PATH: "/opt/conda/bin:/usr/bin", LD_LIBRARY_PATH: "/opt/lib" };
  const text = "#!/bin/sh\n#LATTICE --image=docker.io/library/alpine\n./x\n";
  const bodyOf = (...flags: string[]) =>
    batchSubmission(context({ env }), readBatchWords([...flags, "j.sh"]), { text, name: "j.sh", args: [] }).body.env;
  expect(bodyOf()).toMatchObject({ SEED: "7" });
  expect(bodyOf()).not.toHaveProperty("PATH");
  expect(bodyOf("--export=ALL")).toMatchObject(env);
  expect(withoutSearchPaths({ PATH: "/bin", LD_LIBRARY_PATH: "/lib", PYTHONPATH: "/p", X: "1" })).toEqual({ X: "1" });
});
