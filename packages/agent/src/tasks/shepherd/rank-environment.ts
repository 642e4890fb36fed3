// The variables of one rank beyond those of the whole launch: its number, under the names of Lattice, of PMI, and on
// request of Slurm.

import type { ShepherdSpec } from "../frames.ts";

/** The descriptor by which a rank reaches its PMI server. */
export const PMI_FD = 3;

/** `more`: variables from the PMIx server. */
export function rankEnvironment(
  spec: ShepherdSpec,
  localRank: number,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const rank = String(spec.firstRank + localRank);
  const local = String(localRank);
  const size = String(spec.size);
  const tasks = String(spec.tasks);
  return {
    ...spec.environment,
    LATTICE_RANK: rank,
    LATTICE_LOCAL_RANK: local,
    LATTICE_LOCAL_SIZE: tasks,
    ...(spec.pmi ? pmiNames(spec, rank, size) : {}),
    ...more,
    MPI_LOCALRANKID: local,
    MPI_LOCALNRANKS: tasks,
    ...(spec.slurmEnv ? slurmNames({ rank, local, size }) : {}),
  };
}

function pmiNames(spec: ShepherdSpec, rank: string, size: string): Record<string, string> {
  const inherited = spec.environment.LD_PRELOAD;
  const preload = [inherited, spec.preload].filter((path) => path !== undefined && path !== "").join(":");
  return {
    PMI_FD: String(PMI_FD),
    PMI_RANK: rank,
    PMI_SIZE: size,
    PMI_SPAWNED: "0",
    PMI_JOBID: spec.launchId,
    ...(preload === "" ? {} : { LD_PRELOAD: preload }),
  };
}

interface Place {
  readonly rank: string;
  readonly local: string;
  readonly size: string;
}

const slurmNames = ({ rank, local, size }: Place): Record<string, string> => ({
  SLURM_PROCID: rank,
  SLURM_LOCALID: local,
  SLURM_NPROCS: size,
  SLURM_NTASKS: size,
  SLURM_STEP_NUM_TASKS: size,
});
