// The folders and files of the node that a container sees, for every engine.

import { join } from "node:path";
import type { ContainerBind, EngineAttempt } from "../engine.ts";

export const containerBinds = (
  { dir, order, data, environment }: Pick<EngineAttempt, "dir" | "order" | "data" | "environment">,
  offered: readonly ContainerBind[],
): readonly ContainerBind[] => [
  ...offered,
  ...data.map((mount) => ({ at: mount.at, readOnly: mount.kind !== "fuse" && mount.readOnly })),
  ...[environment.LATTICE_SCRATCH, environment.LATTICE_OUTPUT_DIR, environment.LATTICE_CHECKPOINT_CONTROL].flatMap(
    (at) => (at === undefined ? [] : [{ at, readOnly: false }]),
  ),
  // The authority that the API is checked by.
  ...(environment.LATTICE_CA === undefined ? [] : [{ at: environment.LATTICE_CA, readOnly: true }]),
  ...(order.script === "" ? [] : [{ at: join(dir, "script"), readOnly: true }]),
];
