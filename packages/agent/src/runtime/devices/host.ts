// The node's device files, CDI specifications and driver libraries, read for each container: drivers are upgraded
// while an agent runs.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { HELPER_PATH, isExecutable } from "../../base/executable.ts";
import { execFile } from "../../base/programs.ts";
import { cdiDevices } from "./cdi.ts";
import { driverLibraries, driverPrograms, loaderMachine } from "./driver.ts";
import type { DeviceHost } from "./passed.ts";

interface HostPlaces {
  /** Directories of CDI specifications; the later one takes precedence, as in engines. */
  readonly cdi: readonly string[];
  readonly ldconfig: string;
  readonly programs: readonly string[];
}

const PLACES: HostPlaces = {
  cdi: ["/etc/cdi", "/var/run/cdi"],
  ldconfig: "/sbin/ldconfig",
  programs: ["/usr/bin/nvidia-smi"],
};

const DEADLINE_MS = 10_000;
const MAX_LISTING_BYTES = 16 * 1024 * 1024;

export function deviceHost(fabric: DeviceHost["fabric"], places: HostPlaces = PLACES): DeviceHost {
  return {
    fabric,
    list,
    read,
    cdi: () => places.cdi.toReversed().flatMap((folder) => specsIn(folder).flatMap(cdiDevices)),
    driver: async () => [
      ...driverLibraries(await loaderList(places.ldconfig), loaderMachine(process.arch)),
      ...driverPrograms(places.programs.filter(isExecutable)),
    ],
  };
}

const specsIn = (folder: string): readonly string[] =>
  list(folder)
    .filter((name) => /\.(?:json|ya?ml)$/.test(name))
    .flatMap((name) => read(join(folder, name)) ?? []);

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort((a, b) => (a < b ? -1 : 1));
  } catch {
    return [];
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** Without ldconfig no libraries are found, and CUDA fails inside the container. */
function loaderList(ldconfig: string): Promise<string> {
  const how = { timeout: DEADLINE_MS, maxBuffer: MAX_LISTING_BYTES, env: { PATH: HELPER_PATH } };
  return new Promise((resolve) => {
    execFile(ldconfig, ["-p"], how, (error, stdout) => resolve(error === null ? stdout : ""));
  });
}
