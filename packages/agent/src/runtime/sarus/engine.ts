// Containers by Sarus, on sites that run it. Sarus is a setuid program that each user calls as themselves: images belong to
// the user, and Sarus's own configuration decides which GPUs and which MPI enter a container.

import { failed, ok, type Result } from "@lattice/core";
import { findProgram } from "../../base/executable.ts";
import type { ContainerEngine, EnginePlace } from "../base/engine.ts";
import { containerDefaults } from "../container/defaults.ts";
import { clean } from "./clean.ts";
import { prepare, type Sarus } from "./prepare.ts";
import { start } from "./start.ts";
import { stop } from "./stop.ts";

export function openSarus({ path }: Pick<EnginePlace, "path">): Result<ContainerEngine> {
  const program = findProgram(path, "sarus");
  if (program === null) return failed("sarus is not installed on this node (--container-runtime)");
  return ok(sarusEngine({ program }));
}

const sarusEngine = (sarus: Sarus): ContainerEngine => ({
  ...containerDefaults("containers are run by Sarus on this node"),
  name: "sarus",
  prepare: (parts, attempt, signal) => prepare(sarus, parts, attempt, signal),
  start: (parts, attempt) => start(sarus, parts, attempt),
  stop,
  clean,
});
