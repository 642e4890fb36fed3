// Plans the data mounts of an order: fills placeholders and determines the kind of source. Sources and targets are paths
// that users can change at any moment, so lattice-mounts checks them by the descriptors that it mounts.

import { firstOverlap } from "@lattice/core";
import type { pb } from "@lattice/wire";
import { PrologueError } from "../../base/prologue-error.ts";
import type { RunAs } from "../../host/user/user.ts";
import type { PrologueParts, PrologueTarget } from "../base/engine.ts";
import type { DataMount } from "../base/entry-plan.ts";
import { fillIn } from "../base/fill-in.ts";
import {
  checkAllowed,
  isRemote,
  type MountOwner,
  nfsMount,
  type RemoteSources,
  s3Mount,
} from "../base/remote-sources.ts";
import { homeMount } from "./requested-folders.ts";

/** `user`: the user it runs as, or null for the agent's. */
export async function dataMounts(
  { homeSource, sources, files }: Pick<PrologueParts, "homeSource" | "sources" | "files">,
  { order, dir }: Pick<PrologueTarget, "order" | "dir">,
  user: RunAs | null,
): Promise<readonly DataMount[]> {
  const asked = order.mounts.map((mount) => filledIn(mount, order));
  // Home sources are set by the site, so they need no check.
  for (const { source } of asked) if (isRemote(source)) checkAllowed(sources, source, order);
  const planned: DataMount[] = [];
  for (const mount of [...homeMount(homeSource, order, user).map((home) => filledIn(home, order)), ...asked])
    planned.push(await plan(sources, mount, { dir, user, files, number: planned.length }));
  return planned;
}

async function plan(sources: RemoteSources, mount: pb.Mount, whom: MountOwner): Promise<DataMount> {
  const { source, target, access } = mount;
  const readOnly = access !== "read-write";
  if (source.startsWith("nfs://")) return nfsMount(sources, mount);
  if (source.startsWith("s3://")) return s3Mount(sources, mount, whom);
  return { kind: "bind", source: source.replace(/^file:\/\//, ""), at: target, readOnly };
}

function filledIn(mount: pb.Mount, order: pb.RunOrder): pb.Mount {
  const { source, target, credentials } = mount;
  const filled = {
    ...mount,
    source: fillIn(source, order),
    target: fillIn(target, order),
    credentials: fillIn(credentials, order),
  };
  // A name must not escape the allowed path.
  if ([filled.source, filled.target].some((path) => path.split("/").includes(".."))) {
    throw new PrologueError("mounts", `the mount at ${mount.target} would contain ..`);
  }
  return filled;
}

/** Rejects mounts that hide each other. */
export function refuseOverlap(mounts: readonly { readonly at: string }[]): void {
  const overlap = firstOverlap(mounts.map(({ at }) => at));
  if (overlap !== null) throw new PrologueError("mounts", `the mount at ${mounts[overlap]?.at} overlaps with another`);
}
