// Which variables of the calling shell reach the tasks of srun.
import { expect, test } from "vitest";
import { exportedVariables } from "../../src/slurm/variables.ts";

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
