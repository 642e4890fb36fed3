// What the tasks of srun get of the shell that calls it, and what stays where it is.
import { expect, test } from "vitest";
import { exportedVariables } from "../../src/slurm/variables.ts";

const shell = {
  ...{ OMP_NUM_THREADS: "8", PATH: "/opt/bin:/bin", LD_LIBRARY_PATH: "/opt/lib", LD_PRELOAD: "/mine.so" },
  ...{ HOME: "/home/me", PWD: "/tmp", LATTICE_TOKEN: "secret", SLURM_PROCID: "0", SLURMD_NODENAME: "n1" },
  ...{ PMI_RANK: "0", HYDRA_LAUNCHER: "ssh", CUDA_VISIBLE_DEVICES: "0", OMPI_MCA_plm: "rsh", OMPI_MCA_btl: "tcp" },
};

test("everything that says what a program is to do, and nothing that says where it runs", () => {
  expect(exportedVariables("ALL,X=1", shell)).toEqual({
    variables: {
      ...{ OMP_NUM_THREADS: "8", PATH: "/opt/bin:/bin", LD_LIBRARY_PATH: "/opt/lib", LD_PRELOAD: "/mine.so" },
      ...{ OMPI_MCA_btl: "tcp", X: "1" },
    },
    missing: [],
  });
});

test("what a task was given to be loaded stays on its node", () => {
  expect(exportedVariables("ALL", { ...shell, LATTICE_LAUNCH_ID: "7.1.a.0" }).variables).not.toHaveProperty(
    "LD_PRELOAD",
  );
});
