// The folders and files of the node that a container sees, for every engine. An engine must not look for a path that a
// user can change while it runs as root: such sources are mounted by descriptor at places below the attempt's folder
// first, and the engine gets the places.

import { join } from "node:path";
import { PrologueError } from "../../base/prologue-error.ts";
import type { EntryStep } from "../attempt/entry-plan.ts";
import type { ContainerBind, EngineAttempt } from "../engine.ts";

interface ContainerMounts {
  /** Before the engine starts. */
  readonly steps: readonly EntryStep[];
  readonly binds: readonly ContainerBind[];
}

/** In the attempt's folder; lattice-mounts makes it. */
const PLACES = "mounts";

export function containerMounts(
  { dir, order, data, binds: own }: Pick<EngineAttempt, "dir" | "order" | "data" | "binds">,
  offered: readonly ContainerBind[],
): ContainerMounts {
  const placed = [...data, ...own];
  const binds: readonly ContainerBind[] = [
    ...offered,
    ...placed.map(({ at, readOnly }, n) => ({ at: join(dir, PLACES, String(n)), to: at, readOnly })),
    ...(order.script === "" ? [] : [{ at: join(dir, "script"), readOnly: true }]),
  ];
  const unfit = binds.flatMap(({ at, to = at }) => [at, to]).find((path) => path.includes(":"));
  if (unfit !== undefined) throw new PrologueError("mounts", `${unfit} cannot be mounted: there is a colon in it`);
  return { steps: placed.map((mount, n) => ({ ...mount, at: `@${n}` })), binds };
}
