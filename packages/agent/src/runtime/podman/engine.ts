// Containers by podman, with crun or runc below it. Podman's store belongs to this agent alone.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { failed, ok, type Result } from "@lattice/core";
import { mountsProgram } from "../../base/mounts-program.ts";
import { controlGroupMounts, hierarchies } from "../../host/isolation/detect.ts";
import type { ContainerImage } from "../../images/images.ts";
import type { ContainerEngine, EnginePlace } from "../base/engine.ts";
import { keyOf } from "../prologue/attempt-holdings.ts";
import { clean } from "./clean.ts";
import { detectPodman } from "./detect.ts";
import { type ContainerStore, listContainers, removeImage } from "./podman.ts";
import { prepare, pullImage } from "./prepare.ts";
import { killCount, writeRuntime } from "./runtime-script.ts";
import { attemptsWithSecrets } from "./secrets.ts";
import { start } from "./start.ts";
import { stop } from "./stop.ts";

export function openPodman(place: EnginePlace): Result<ContainerEngine> {
  if (!place.isRoot) return failed("the agent does not run as root");
  const mounts = readFileSync("/proc/self/mountinfo", "utf8");
  const [memory = null, { v2, v1 }] = [hierarchies(mounts).get("memory"), controlGroupMounts(mounts)];
  const unifiedMount = v1 === null ? null : v2;
  const found = detectPodman(place.path, place.choice, unifiedMount);
  if (!found.ok) return found;
  const folder = join(place.cacheDir, "oci");
  const hidden = found.value.runtime.endsWith("/crun") ? unifiedMount : null;
  const runtime = writeRuntime(folder, { runtime: found.value.runtime, memory, hidden, mounts: mountsProgram() });
  return ok(podmanEngine({ podman: found.value.podman, runtime, folder, insecure: place.insecureRegistries }));
}

const podmanEngine = (store: ContainerStore): ContainerEngine<ContainerImage> => ({
  name: "podman",
  createsGroups: true,
  prepare,
  start: (parts, attempt, image) => start(store, parts, attempt, image),
  stop,
  clean: (parts, target) => clean(store, parts, target),
  oomKills: (groupParent) => killCount(store.folder, groupParent),
  attempts: async () => [...new Set([...(await listContainers(store)).map(keyOf), ...attemptsWithSecrets(store)])],
  pull: (name, signal, known = null) => pullImage(store, { name, known }, signal),
  removeImage: (id) => removeImage(store, id),
});
