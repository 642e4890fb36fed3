// Finds podman and the OCI runtime below it: the one that the site names, or the one that works best here.

import { failed, ok, type Result } from "@lattice/core";
import { findProgram } from "../../base/executable.ts";

interface PodmanPrograms {
  readonly podman: string;
  readonly runtime: string;
}

/** `unifiedMount`: where cgroup v2 is mounted next to v1, or null. crun fails on such nodes without a workaround, so runc goes first. */
export function detectPodman(
  path: readonly string[],
  choice = "auto",
  unifiedMount: string | null = null,
): Result<PodmanPrograms> {
  const podman = findProgram(path, "podman");
  if (podman === null) return failed("podman is not installed on this node");
  const preferred = unifiedMount === null ? ["crun", "runc"] : ["runc", "crun"];
  const wanted = choice === "auto" ? preferred : [choice];
  const runtime = wanted.map((name) => findProgram(path, name)).find((found) => found !== null);
  if (runtime !== undefined) return ok({ podman, runtime });
  return failed(
    choice === "auto"
      ? "podman is installed, but neither crun nor runc is"
      : `podman is installed, but ${choice} is not (--container-runtime)`,
  );
}
