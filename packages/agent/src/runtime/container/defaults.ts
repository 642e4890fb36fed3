// Defaults of a container engine, and the engine of a node that has none.

import { PrologueError } from "../../base/prologue-error.ts";
import type { ContainerEngine, Engine } from "../base/engine.ts";
import { clean } from "../process/clean.ts";
import { stop } from "../process/stop.ts";

/** Defaults for an engine without its own image store and control groups. */
export const containerDefaults = (whyNoStore: string): Omit<ContainerEngine, "name" | keyof Engine> => ({
  createsGroups: false,
  oomKills: () => 0,
  attempts: async () => [],
  pull: async () => {
    throw new Error(whyNoStore);
  },
  removeImage: async () => undefined,
});

/** The engine of a node that cannot run containers: each attempt fails with the reason. */
export function unavailableEngine(reason: string): ContainerEngine {
  const refuse = async (): Promise<never> => {
    throw new PrologueError("container", reason);
  };
  return {
    ...containerDefaults(reason),
    name: "",
    prepare: refuse,
    start: refuse,
    // An attempt of an earlier life of the agent may have started while the engine was there.
    stop,
    clean,
  };
}
