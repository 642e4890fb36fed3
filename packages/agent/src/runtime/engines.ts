// The container engines that an agent can use, by the value of --container-runtime. The engine is chosen once, at start;
// when the named engine is missing, the node does not fall back to another one.

import type { Result } from "@lattice/core";
import type { ContainerEngine, EnginePlace } from "./base/engine.ts";
import { unavailableEngine } from "./container/defaults.ts";
import { openPodman } from "./podman/engine.ts";
import { openSarus } from "./sarus/engine.ts";

interface EngineEntry {
  readonly choices: readonly string[];
  readonly open: (place: EnginePlace) => Result<ContainerEngine>;
}

/** The first choice of the first engine is the default. */
const ENGINES: readonly EngineEntry[] = [
  { choices: ["auto", "crun", "runc"], open: openPodman },
  { choices: ["sarus"], open: openSarus },
];

export const ENGINE_CHOICES: readonly string[] = ENGINES.flatMap(({ choices }) => choices);

export function openContainerEngine(place: EnginePlace): ContainerEngine {
  const entry = ENGINES.find(({ choices }) => choices.includes(place.choice));
  const opened = entry?.open(place);
  if (opened?.ok === true) return opened.value;
  return unavailableEngine(opened?.error ?? `unknown container engine ${place.choice} (--container-runtime)`);
}
