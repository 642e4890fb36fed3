// Data mounts of an order as what is to be done on this node: placeholders filled in, the kind of source
// told apart, and everything that can be known beforehand checked before anything is mounted.

import { lstat, stat } from "node:fs/promises";
import { firstOverlap } from "@lattice/core";
import type { Mount, Order } from "../lifecycle/attempt.ts";
import type { DataMount } from "../runtime/uenv/enter.ts";
import { mayRead, type RunAs } from "../runtime/user/user.ts";
import { homeMount } from "./asked-folders.ts";
import { fillIn } from "./fill-in.ts";
import type { PrologueParts, Target } from "./parts.ts";
import { PrologueError } from "./prologue-error.ts";
import { checkAllowed, type ForWhom, isRemote, nfsMount, type RemoteSources, s3Mount } from "./remote-sources.ts";

/** `user`: whom it runs as; null: as the agent. */
export async function dataMounts(
  { homeSource, sources }: Pick<PrologueParts, "homeSource" | "sources">,
  { order, dir }: Pick<Target, "order" | "dir">,
  user: RunAs | null,
): Promise<readonly DataMount[]> {
  const asked = (order.mounts ?? []).map((mount) => filledIn(mount, order));
  // Where homes come from is the site's own word.
  for (const { source } of asked) if (isRemote(source)) checkAllowed(sources, source, order);
  const planned: DataMount[] = [];
  for (const mount of [...homeMount(homeSource, order, user).map((home) => filledIn(home, order)), ...asked])
    planned.push(await plan(sources, mount, { dir, user, number: planned.length }));
  return planned;
}

async function plan(sources: RemoteSources, mount: Mount, whom: ForWhom): Promise<DataMount> {
  const { source, target, access } = mount;
  const { user } = whom;
  const readOnly = access !== "read-write";
  if (source.startsWith("nfs://")) return nfsMount(sources, mount);
  if (source.startsWith("s3://")) return s3Mount(sources, mount, whom);
  const path = source.replace(/^file:\/\//, "");
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === "ENOENT" ? "does not exist on this node" : error.message;
    throw new PrologueError("mounts", `the source ${path} of ${target} ${why}`);
  });
  if (!found.isDirectory()) throw new PrologueError("mounts", `the source ${path} of ${target} is not a folder`);
  // The agent mounts it as root, and so would pass by the folders above it that keep the user out.
  if (user !== null && !(await mayRead(user, path))) {
    throw new PrologueError("mounts", `${user.name} may not read the source ${path} of ${target}`);
  }
  return { kind: "bind", source: path, at: target, readOnly };
}

function filledIn(mount: Mount, order: Order): Mount {
  const credentials = mount.credentials === undefined ? null : { credentials: fillIn(mount.credentials, order) };
  const filled = { ...mount, source: fillIn(mount.source, order), target: fillIn(mount.target, order), ...credentials };
  // A name must not lead out of where the path was allowed.
  if ([filled.source, filled.target].some((path) => path.split("/").includes(".."))) {
    throw new PrologueError("mounts", `the mount at ${mount.target} would contain ..`);
  }
  return filled;
}

/** Mounts that would hide each other, or lead elsewhere. */
export async function checkTargets(mounts: readonly { readonly at: string }[]): Promise<void> {
  refuseOverlap(mounts);
  for (const { at } of mounts) await refuseLinks(at);
}

function refuseOverlap(mounts: readonly { readonly at: string }[]): void {
  const overlap = firstOverlap(mounts.map(({ at }) => at));
  if (overlap !== null) throw new PrologueError("mounts", `the mount at ${mounts[overlap]?.at} overlaps with another`);
}

/** A link on the way would lead out of where the target was allowed. */
async function refuseLinks(at: string): Promise<void> {
  let path = "";
  for (const part of at.slice(1).split("/")) {
    path = `${path}/${part}`;
    const found = await lstat(path).catch(() => null);
    if (found === null) return;
    if (!found.isDirectory())
      throw new PrologueError("mounts", `${path} on the way to the mount at ${at} is not a folder`);
  }
}
