// Writes a snapshot into a directory without a log, so that a log starts right after it: how a backup is restored on
// one server. An existing log is never touched.

import { join } from "node:path";
import type { LogIndex, Term } from "@lattice/core";
import { LogError, type SnapshotInfo } from "../contract/replicated-log.ts";
import { asLogError, diskFiles, errorCode, type Files } from "./files.ts";
import { lockDirectory } from "./lock.ts";
import { parseSegmentName } from "./segment.ts";
import { parseSnapshotName, writeSnapshot } from "./snapshot-file.ts";
import { writeTerm } from "./term-file.ts";

/** Throws `wrong_index` when there is a log already. May be repeated after a failure. */
export async function seedEmbeddedLog(
  { dir, fs: files = diskFiles, nowMs = Date.now }: SeedOptions,
  at: { readonly index: LogIndex; readonly term: Term },
  lines: Iterable<string>,
): Promise<SnapshotInfo> {
  const snapshotDir = join(dir, "snapshots");
  try {
    await files.makeDir(snapshotDir);
    const lock = await lockDirectory(dir);
    try {
      await refuseEmbeddedLog(dir, files);
      // The term comes first: without the snapshot there is no log yet.
      await writeTerm(files, dir, at.term);
      return await writeSnapshot(files, snapshotDir, { ...at, takenAtMs: nowMs() }, lines);
    } finally {
      await lock.release();
    }
  } catch (cause) {
    throw cause instanceof RangeError ? cause : asLogError(cause, `restoring a snapshot into ${dir}`);
  }
}

interface SeedOptions {
  readonly dir: string;
  readonly fs?: Files;
  readonly nowMs?: () => number;
}

/** Throws when there is a log. A term file alone is the remains of a failed seed. */
export async function refuseEmbeddedLog(dir: string, files: Files = diskFiles): Promise<void> {
  const segments = (await list(files, dir)).some((name) => parseSegmentName(name) !== null);
  const snapshots = (await list(files, join(dir, "snapshots"))).some((name) => parseSnapshotName(name) !== null);
  if (segments || snapshots) throw new LogError("wrong_index", `there is a log in ${dir} already`);
}

async function list(files: Files, dir: string): Promise<readonly string[]> {
  try {
    return await files.list(dir);
  } catch (cause) {
    if (errorCode(cause) === "ENOENT") return [];
    throw cause;
  }
}
