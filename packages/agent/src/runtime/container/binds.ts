// The folders and files of the node that a container sees, for every engine. An engine must not look for a path that a
// user can change while it runs as root: such sources are mounted by descriptor at places below the attempt's folder
// first, and the engine gets the places.

import { join } from "node:path";
import { PrologueError } from "../../base/prologue-error.ts";
import type { ContainerBind, EngineAttempt } from "../base/engine.ts";
import type { BindMount, DataMount, EntryStep } from "../base/entry-plan.ts";

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
  const needed = own.filter((bind) => !isSeen(bind, data));
  const fixed = [...offered, ...(order.script === "" ? [] : [{ at: join(dir, "script"), readOnly: true }])];
  refuseNested(
    data.map(({ at }) => at),
    [...needed, ...fixed].map((bind) => ("to" in bind ? bind.to : undefined) ?? bind.at),
  );
  const placed = [...data, ...needed];
  const binds: readonly ContainerBind[] = [
    ...placed.map(({ at, readOnly }, n) => ({ at: join(dir, PLACES, String(n)), to: at, readOnly })),
    ...fixed,
  ];
  const unfit = binds.flatMap(({ at, to = at }) => [at, to]).find((path) => path.includes(":"));
  if (unfit !== undefined) throw new PrologueError("mounts", `${unfit} cannot be mounted: there is a colon in it`);
  return { steps: placed.map((mount, n) => ({ ...mount, at: `@${n}` })), binds };
}

/** Whether a mount of a folder above it, under its own path, has it inside already. */
const isSeen = ({ at, readOnly }: BindMount, data: readonly DataMount[]): boolean =>
  data.some(
    (mount) =>
      mount.kind === "bind" && mount.source === mount.at && mount.readOnly === readOnly && isBelow(at, mount.at),
  );

/** The engine would make the place of one mount inside the other, as root. */
function refuseNested(data: readonly string[], needed: readonly string[]): void {
  for (const at of data) {
    const other = needed.find((path) => isBelow(path, at) || isBelow(at, path));
    if (other === undefined) continue;
    throw new PrologueError("mounts", `the mount at ${at} overlaps with ${other}, which the container needs`);
  }
}

const isBelow = (path: string, above: string): boolean => path === above || path.startsWith(`${above}/`);
