// The variables that make the programs of Lattice work inside every job: the API address, a folder appended to PATH,
// and for Hydra's `mpiexec` and OpenMPI's `mpirun` how to start helpers on other nodes. Pure.

import { join } from "node:path";

interface JobOffer {
  /** Empty when unknown. */
  readonly apiUrl: string;
  /** Directory of `lattice` and the other programs, or "". */
  readonly programs: string;
  /** Directory of Node. */
  readonly node: string;
  /** The authority of the servers' certificates, if any. */
  readonly ca?: string | undefined;
}

export const offeredTo = ({ apiUrl, programs, node, ca }: JobOffer): Record<string, string> => ({
  ...(apiUrl === "" ? {} : { LATTICE_API_URL: apiUrl }),
  ...(ca === undefined ? {} : { LATTICE_CA: ca }),
  ...(programs === "" ? {} : launcherNames(programs)),
  PATH: [programs, node].filter((folder) => folder !== "").join(":"),
});

/** Both call their launcher like ssh: OpenMPI up to 4 by its own settings, PRRTE (from 5 on) by its own. */
const launcherNames = (programs: string): Record<string, string> => {
  const launcher = join(programs, "lattice-mpi-launcher");
  return {
    HYDRA_LAUNCHER: "ssh",
    HYDRA_LAUNCHER_EXEC: launcher,
    OMPI_MCA_plm: "rsh",
    OMPI_MCA_plm_rsh_agent: launcher,
    PRTE_MCA_plm: "ssh",
    PRTE_MCA_plm_ssh_agent: launcher,
  };
};

/** For Hydra: every node of the job with the tasks that it takes. */
export const hostFile = (nodes: readonly string[], tasksPerNode: number): string =>
  nodes.map((node) => `${node}:${Math.max(1, tasksPerNode)}\n`).join("");
