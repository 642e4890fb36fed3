// Data mounts of an order as what is to be done on this node: placeholders filled in, the kind of source
// told apart, and everything that can be known beforehand checked before anything is mounted.

import { lstat, stat } from "node:fs/promises";
import { firstOverlap } from "@lattice/core";
import type { Mount, Order } from "../lifecycle/attempt.ts";
import { isExecutable } from "../runtime/memory-policy.ts";
import type { DataMount } from "../runtime/uenv/enter.ts";
import { mayRead, type RunAs } from "../runtime/user/user.ts";
import { homeMount } from "./asked-folders.ts";
import { fillIn } from "./fill-in.ts";
import type { PrologueParts } from "./parts.ts";
import { PrologueError } from "./prologue-error.ts";

/** The program that mounts a bucket, where a site has one. */
const S3_MOUNTER = "/usr/bin/s3fs";
const NFS_MOUNTER = "/sbin/mount.nfs";

/** `user`: whom it runs as; null: as the agent. */
export async function dataMounts(
  { homeSource }: Pick<PrologueParts, "homeSource">,
  order: Order,
  user: RunAs | null,
): Promise<readonly DataMount[]> {
  const planned: DataMount[] = [];
  const mounts = [...homeMount(homeSource, order, user), ...(order.mounts ?? [])];
  for (const mount of mounts) planned.push(await plan(filledIn(mount, order), user));
  return planned;
}

async function plan({ source, target, access }: Mount, user: RunAs | null): Promise<DataMount> {
  const readOnly = access !== "read-write";
  if (source.startsWith("nfs://")) return nfsMount(source, target, readOnly);
  if (source.startsWith("s3://")) return s3Mount(source, target, readOnly);
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

/** nfs://server/export */
function nfsMount(source: string, at: string, readOnly: boolean): DataMount {
  if (!isExecutable(NFS_MOUNTER))
    throw new PrologueError("mounts", `${source} needs mount.nfs, which is not installed`);
  const [host = "", ...path] = source.slice("nfs://".length).split("/");
  return { kind: "nfs", source: `${host}:/${path.join("/")}`, at, readOnly };
}

function s3Mount(source: string, at: string, readOnly: boolean): DataMount {
  if (!isExecutable(S3_MOUNTER)) throw new PrologueError("mounts", `${source} needs s3fs, which is not installed`);
  const [bucket = "", ...path] = source.slice("s3://".length).split("/");
  const from = path.length === 0 || path[0] === "" ? bucket : `${bucket}:/${path.join("/")}`;
  const options = `${readOnly ? "ro," : ""}nosuid,nodev,allow_other`;
  return { kind: "fuse", words: [S3_MOUNTER, from, at, "-o", options], at };
}

function filledIn(mount: Mount, order: Order): Mount {
  const filled = { ...mount, source: fillIn(mount.source, order), target: fillIn(mount.target, order) };
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
