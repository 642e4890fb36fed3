// The folders that an order requests beyond the usual ones: scratch of a given size, a place for output, and with
// `defaults` a home, output and checkpoints that must exist. A missing one fails the prologue, and another node is
// tried.

import { readdir, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { PrologueError } from "../../base/prologue-error.ts";
import { makeOwnFolder } from "../../files/own-tree.ts";
import type { UserFiles } from "../../files/user-files.ts";
import type { RunAs } from "../../host/user/user.ts";
import { readAttempt } from "../base/attempt-files.ts";
import type { PrologueParts, PrologueTarget } from "../base/engine.ts";
import { fillIn } from "../base/fill-in.ts";

/** Refuses when less than the requested scratch is free; space requested by other attempts counts as used. */
export async function checkScratch({ scratch }: Pick<PrologueParts, "scratch">, { key, dir, order }: PrologueTarget) {
  const wanted = order.data?.scratchBytes ?? 0;
  if (wanted === 0) return;
  await makeOwnFolder(scratch.root, 0o711);
  if ((await freeScratch(scratch.root, { key, dir })) >= wanted) return;
  // Files of ended attempts may still be under removal.
  await scratch.emptied(EMPTIED_WITHIN_MS);
  const free = await freeScratch(scratch.root, { key, dir });
  if (free >= wanted) return;
  const left = gigabytes(Math.max(0, free));
  throw new PrologueError("scratch", `${gigabytes(wanted)} of scratch requested, and ${left} are free on this node`);
}

const EMPTIED_WITHIN_MS = 30_000;

async function freeScratch(root: string, { key, dir }: Pick<PrologueTarget, "key" | "dir">): Promise<number> {
  const { bavail, bsize } = await statfs(root);
  let free = bavail * bsize;
  for (const other of await readdir(root)) {
    if (other !== key) free -= readAttempt(join(dirname(dir), other)).order?.data?.scratchBytes ?? 0;
  }
  return free;
}

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;

/** Returns the variables for the output location of the order, if it has one. */
export async function ownOutput(
  order: pb.RunOrder,
  runAs: RunAs | null,
  files: Pick<UserFiles, "make">,
): Promise<Record<string, string>> {
  const asked = order.data?.output ?? "";
  if (asked === "") return {};
  const place = fillIn(asked, order);
  if (place.split("/").includes("..")) throw new PrologueError("output", `the place ${asked} would contain ..`);
  // Buckets have no directories to create; programs write to them directly.
  if (place.startsWith("s3://")) return { LATTICE_OUTPUT: place };
  const path = place.replace(/^file:\/\//, "");
  // As the user: root would make folders anywhere.
  await files.make(path, runAs).catch((error: Error) => {
    throw new PrologueError("output", `the folder for output cannot be made: ${error.message}`);
  });
  return { LATTICE_OUTPUT: path, LATTICE_OUTPUT_DIR: path };
}

/** Checks the directories that `defaults` requires. */
export async function checkDefaults(
  {
    outputRoot,
    homeSource,
    files,
  }: Pick<PrologueParts, "outputRoot" | "homeSource"> & {
    readonly files: Pick<UserFiles, "reach">;
  },
  { data, checkpoint }: pb.RunOrder,
  runAs: RunAs | null,
): Promise<void> {
  if (data?.defaults !== true) return;
  if (outputRoot === "" && data.output === "")
    throw new PrologueError("output", "this node has no place for output (--output-dir)");
  if (outputRoot === "" && checkpoint !== undefined)
    throw new PrologueError("output", "this node has no place for checkpoints (--output-dir)");
  if (homeSource !== "" || runAs === null) return;
  await files.reach(runAs.home, runAs).catch((error: Error) => {
    throw new PrologueError(
      "mounts",
      `${runAs.home}, the home of ${runAs.name}, is not on this node: ${error.message}`,
    );
  });
}

/** For sites with home directories outside of the nodes. */
export const homeMount = (homeSource: string, { data }: pb.RunOrder, runAs: RunAs | null): readonly pb.Mount[] =>
  data?.defaults !== true || homeSource === "" || runAs === null
    ? []
    : [create(pb.MountSchema, { source: homeSource, target: runAs.home, access: "read-write" })];
