// What every job is given so that the programs of Lattice work inside it without any flag: where the
// API is, a place on the PATH, behind the job's own, where the programs are, and for Hydra's `mpiexec`
// how it starts its proxies on the other nodes. Pure.

import { join } from "node:path";

export interface Offer {
  /** Empty: the server did not say. */
  readonly apiUrl: string;
  /** Where `lattice` and its kin are, or "". */
  readonly programs: string;
  /** Where Node is. */
  readonly node: string;
  /** The authority that servers' certificates come from, or absent. */
  readonly ca?: string | undefined;
}

export const offeredTo = ({ apiUrl, programs, node, ca }: Offer): Record<string, string> => ({
  ...(apiUrl === "" ? {} : { LATTICE_API_URL: apiUrl }),
  ...(ca === undefined ? {} : { LATTICE_CA: ca }),
  ...(programs === "" ? {} : hydraNames(programs)),
  PATH: [programs, node].filter((folder) => folder !== "").join(":"),
});

/** Hydra speaks to its launcher as it would to ssh. */
const hydraNames = (programs: string): Record<string, string> => ({
  HYDRA_LAUNCHER: "ssh",
  HYDRA_LAUNCHER_EXEC: join(programs, "lattice-mpi-launcher"),
});

/** For Hydra: every node of the job with the tasks that it takes. */
export const hostFile = (nodes: readonly string[], tasksPerNode: number): string =>
  nodes.map((node) => `${node}:${Math.max(1, tasksPerNode)}\n`).join("");
