// Data from servers, which the agent mounts as root: only sources that the site allows, and buckets with the user's
// keys, never root's. Keys come from a file that the user can read on the node, and are copied into the attempt's
// folder while mounting. Without a file a bucket is mounted anonymously.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { pb } from "@lattice/wire";
import { isExecutable } from "../../base/executable.ts";
import { PrologueError } from "../../base/prologue-error.ts";
import { makeOwnFolder } from "../../files/own-tree.ts";
import type { UserFiles } from "../../files/user-files.ts";
import type { RunAs } from "../../host/user/user.ts";
import type { DataMount } from "./entry-plan.ts";
import { fillIn, type PathOwner } from "./fill-in.ts";

export interface RemoteSources {
  /** Allowed prefixes of sources, with placeholders. */
  readonly allowed: readonly string[];
  /** The object store; empty for the mounter's default. */
  readonly s3Url: string;
  readonly s3Mounter: string;
  readonly nfsMounter: string;
}

/** In the attempt's directory, which only the agent can read; removed by the epilogue. */
export const SECRETS = "secrets";

export const isRemote = (source: string): boolean => /^(nfs|s3):\/\//.test(source);

/** A prefix matches whole path components only. */
export function checkAllowed({ allowed }: RemoteSources, source: string, whose: PathOwner): void {
  const known = allowed.map((prefix) => fillIn(prefix, whose).replace(/\/+$/, ""));
  if (known.some((prefix) => source === prefix || source.startsWith(`${prefix}/`))) return;
  throw new PrologueError("mounts", `${source} is not among the sources that this node allows (--mount-allow)`);
}

/** nfs://server/export */
export function nfsMount({ nfsMounter }: RemoteSources, { source, target, access }: pb.Mount): DataMount {
  if (!isExecutable(nfsMounter)) throw new PrologueError("mounts", `${source} needs mount.nfs, which is not installed`);
  const [host = "", ...path] = source.slice("nfs://".length).split("/");
  if (!HOST.test(host)) throw new PrologueError("mounts", `${JSON.stringify(host)} is not the name of a server`);
  const readOnly = access !== "read-write";
  const options = `${readOnly ? "ro" : "rw"},nosuid,nodev`;
  return { kind: "run", words: [nfsMounter, `${host}:/${path.join("/")}`, "{}", "-o", options], at: target, readOnly };
}

export interface MountOwner {
  /** The attempt's folder. */
  readonly dir: string;
  /** `null` for the agent's own user, with its own keys. */
  readonly user: RunAs | null;
  /** Position of the mount in the order. */
  readonly number: number;
  readonly files: Pick<UserFiles, "read">;
}

/** Words of programs of root's: never options. */
const HOST = /^[A-Za-z0-9[][\w.:[\]-]*$/;
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/;

export async function s3Mount(
  { s3Mounter, s3Url }: RemoteSources,
  { source, target: at, access, credentials }: pb.Mount,
  whom: MountOwner,
): Promise<DataMount> {
  if (!isExecutable(s3Mounter)) throw new PrologueError("mounts", `${source} needs s3fs, which is not installed`);
  const [bucket = "", ...path] = source.slice("s3://".length).replace(/\/+$/, "").split("/");
  if (!BUCKET.test(bucket)) throw new PrologueError("mounts", `${JSON.stringify(bucket)} is not the name of a bucket`);
  const secret = await takeKeys(source, credentials, whom);
  const { user } = whom;
  const options = [
    ...(access === "read-write" ? [] : ["ro"]),
    ...["nosuid", "nodev", "allow_other"],
    ...(user === null ? [] : [`uid=${user.uid}`, `gid=${user.gid}`, "umask=0077"]),
    ...(s3Url === "" ? [] : [`url=${s3Url}`, "use_path_request_style"]),
    ...(secret === null ? (user === null ? [] : ["public_bucket=1"]) : [`passwd_file=${secret}`]),
  ].join(",");
  const from = path.length === 0 ? bucket : `${bucket}:/${path.join("/")}`;
  const words = [s3Mounter, from, "{}", "-o", options];
  const readOnly = access !== "read-write";
  return { kind: "run", words, at, readOnly, ...(secret === null ? null : { secret }) };
}

/** The user's credentials file, at the default path of s3fs. */
const USUAL = ".passwd-s3fs";

const MAX_KEYS_BYTES = 16 * 1024;

/** Returns null when there are no keys. */
async function takeKeys(source: string, named: string, whom: MountOwner): Promise<string | null> {
  const { dir, user, number, files } = whom;
  if (named === "" && user === null) return null;
  const path = named === "" ? join(user?.home ?? "", USUAL) : named;
  // With the user's rights: the path is the user's choice.
  const keys = await files.read(path, user, MAX_KEYS_BYTES).then(String, () => null);
  if (keys === null && named === "") return null;
  if (keys === null)
    throw new PrologueError("mounts", `${user?.name ?? "the agent"} may not read the keys ${path} for ${source}`);
  const lines = keys.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
  if (lines.length === 0 || !lines.every((line) => /^([^:\s]+:){1,2}\S+$/.test(line.trim())))
    throw new PrologueError("mounts", `the keys ${path} for ${source} are not lines of KEY:SECRET`);
  await makeOwnFolder(join(dir, SECRETS), 0o700);
  const place = join(dir, SECRETS, String(number));
  await writeFile(place, `${lines.join("\n")}\n`, { mode: 0o600 });
  return place;
}
