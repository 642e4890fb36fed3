// The environment inside a container: the job's, with search paths that are valid there. The image's PATH replaces the
// node's unless the job sets one; folders of the agent are appended. Pure.

import { DRIVER_LIBRARIES, DRIVER_PROGRAMS } from "../devices/driver.ts";
import { PROGRAMS_PATH } from "./programs.ts";

interface ContainerEnvironment {
  /** The job's environment on the node. */
  readonly environment: Readonly<Record<string, string>>;
  /** Variables set by the submission. */
  readonly chosen: Readonly<Record<string, string>>;
  /** Variables set by the image. */
  readonly image: Readonly<Record<string, string>>;
  /** Whether the driver's files are bound. */
  readonly driver: boolean;
  /** Whether the programs of Lattice are bound. */
  readonly programs: boolean;
}

export function containerEnvironment(inside: ContainerEnvironment): Record<string, string> {
  const { environment, chosen, image, driver, programs } = inside;
  const path = chosen.PATH ?? image.PATH ?? environment.PATH;
  const libraries = chosen.LD_LIBRARY_PATH ?? image.LD_LIBRARY_PATH;
  return {
    ...environment,
    ...(programs && environment.HYDRA_LAUNCHER_EXEC !== undefined ? { HYDRA_LAUNCHER_EXEC: MPI_LAUNCHER } : {}),
    ...joined("PATH", path, [...(driver ? [DRIVER_PROGRAMS] : []), ...(programs ? [PROGRAMS_PATH] : [])]),
    ...joined("LD_LIBRARY_PATH", libraries, driver ? [DRIVER_LIBRARIES] : []),
  };
}

const MPI_LAUNCHER = `${PROGRAMS_PATH}/lattice-mpi-launcher`;

function joined(name: string, before: string | undefined, more: readonly string[]): Record<string, string> {
  const folders = (before ?? "").split(":").filter((folder) => folder !== "");
  const all = [...folders, ...more.filter((folder) => !folders.includes(folder))];
  return all.length === 0 ? {} : { [name]: all.join(":") };
}
