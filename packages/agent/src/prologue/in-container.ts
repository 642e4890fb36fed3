// What an attempt in a container is made of, whichever engine runs it.

import { join } from "node:path";
import type { Software } from "../lifecycle/attempt.ts";
import type { ContainerBind } from "../runtime/container/bind.ts";
import type { DataMount } from "../runtime/uenv/enter.ts";
import type { RunAs } from "../runtime/user/user.ts";
import type { Target } from "./parts.ts";

export interface InContainer {
  readonly software: Software;
  readonly runAs: RunAs | null;
  readonly data: readonly DataMount[];
  readonly environment: Record<string, string>;
  /** Put before the engine: the container inherits it. */
  readonly policy: readonly string[];
  /** What of the node is seen inside, at the same places. */
  readonly binds: readonly ContainerBind[];
}

export const containerBinds = (
  { dir, order }: Pick<Target, "dir" | "order">,
  data: readonly DataMount[],
  environment: Readonly<Record<string, string>>,
  offered: readonly ContainerBind[],
): InContainer["binds"] => [
  ...offered,
  ...data.map((mount) => ({ at: mount.at, readOnly: mount.kind !== "fuse" && mount.readOnly })),
  ...[environment.LATTICE_SCRATCH, environment.LATTICE_OUTPUT_DIR, environment.LATTICE_CHECKPOINT_CONTROL].flatMap(
    (at) => (at === undefined ? [] : [{ at, readOnly: false }]),
  ),
  // The authority that the API is checked by.
  ...(environment.LATTICE_CA === undefined ? [] : [{ at: environment.LATTICE_CA, readOnly: true }]),
  ...(order.script === "" ? [] : [{ at: join(dir, "script"), readOnly: true }]),
];
