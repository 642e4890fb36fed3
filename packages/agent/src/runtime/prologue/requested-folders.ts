// The folders that an order requests beyond the usual ones: scratch of a given size, a place for output, and with
// `defaults` a home, output and checkpoints that must exist. A missing one fails the prologue, and another node is
// tried.

import { execFile } from "node:child_process";
import { mkdir, readdir, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { pb } from "@lattice/wire";
import { PrologueError } from "../../base/prologue-error.ts";
import { asUser, type RunAs } from "../../host/user/user.ts";
import { readAttempt } from "../attempt/files.ts";
import type { PrologueParts, PrologueTarget } from "../engine.ts";
import { fillIn } from "./fill-in.ts";

/** Refuses when less than the requested scratch is free; space requested by other attempts counts as used. */
export async function checkScratch({ scratch }: Pick<PrologueParts, "scratch">, { key, dir, order }: PrologueTarget) {
  const wanted = order.data?.scratchBytes ?? 0;
  if (wanted === 0) return;
  await mkdir(scratch.root, { recursive: true });
  const { bavail, bsize } = await statfs(scratch.root);
  let free = bavail * bsize;
  for (const other of await readdir(scratch.root)) {
    if (other !== key) free -= readAttempt(join(dirname(dir), other)).order?.data?.scratchBytes ?? 0;
  }
  if (free >= wanted) return;
  const left = gigabytes(Math.max(0, free));
  throw new PrologueError(
    "scratch",
    `${gigabytes(wanted)} of scratch are asked for, and ${left} are free on this node`,
  );
}

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;

/** The variables that name the place of an order's own; none where it names none. */
export async function ownOutput(order: pb.RunOrder, runAs: RunAs | null): Promise<Record<string, string>> {
  const asked = order.data?.output ?? "";
  if (asked === "") return {};
  const place = fillIn(asked, order);
  if (place.split("/").includes("..")) throw new PrologueError("output", `the place ${asked} would contain ..`);
  // A bucket has no folders to be made; the programs write to it themselves.
  if (place.startsWith("s3://")) return { LATTICE_OUTPUT: place };
  const path = place.replace(/^file:\/\//, "");
  await makeAs(runAs, path);
  return { LATTICE_OUTPUT: path, LATTICE_OUTPUT_DIR: path };
}

const MAKE_TIMEOUT_MS = 30_000;

/** Runs as the user: as root the agent would create folders anywhere. */
async function makeAs(runAs: RunAs | null, path: string): Promise<void> {
  const [program = "", ...words] = [...(runAs === null ? [] : asUser(runAs, true)), "/bin/mkdir", "-p", "--", path];
  const said = await new Promise<string>((resolve) => {
    execFile(program, words, { timeout: MAKE_TIMEOUT_MS, env: { LC_ALL: "C" } }, (error, _, stderr) =>
      resolve(error === null ? "" : stderr.trim() || error.message),
    );
  });
  if (said !== "") throw new PrologueError("output", `the folder for output cannot be made: ${said}`);
}

/** What `defaults` promises, where this node cannot keep it. */
export async function checkDefaults(
  { outputRoot, homeSource }: Pick<PrologueParts, "outputRoot" | "homeSource">,
  { data, checkpoint }: pb.RunOrder,
  runAs: RunAs | null,
): Promise<void> {
  if (data?.defaults !== true) return;
  if (outputRoot === "" && data.output === "")
    throw new PrologueError("output", "this node has no place for output (--output-dir)");
  if (outputRoot === "" && checkpoint !== undefined)
    throw new PrologueError("output", "this node has no place for checkpoints (--output-dir)");
  if (homeSource !== "" || runAs === null) return;
  const home = await stat(runAs.home).catch(() => null);
  if (home?.isDirectory() !== true)
    throw new PrologueError("mounts", `${runAs.home}, the home of ${runAs.name}, is not on this node`);
}

/** Where the site has homes that nodes do not. */
export const homeMount = (homeSource: string, { data }: pb.RunOrder, runAs: RunAs | null): readonly pb.Mount[] =>
  data?.defaults !== true || homeSource === "" || runAs === null
    ? []
    : [create(pb.MountSchema, { source: homeSource, target: runAs.home, access: "read-write" })];
