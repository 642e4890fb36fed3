// Handles a member that was removed from the cluster. etcd reports this in its output and ends whenever it starts on
// that data, so it is not restarted and its data is no longer used.

import { open, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ManagedError } from "./managed-error.ts";

/** etcd's messages since 3.0. */
const REMOVED = /the member has been permanently removed|data-dir used by this member must be removed/;
/** The message is within this distance of the end of the output. */
const SEARCHED_BYTES = 256 * 1024;
const LAST_WORDS_BYTES = 2_048;
const MARK = "removed";

export const wasRemoved = async (logFile: string): Promise<boolean> =>
  REMOVED.test(await tailOf(logFile, SEARCHED_BYTES));

/** The output is rotated with it, so that the next member is not judged by it. */
export async function markRemoved(dir: string, logFile: string): Promise<ManagedError> {
  await writeFile(join(dir, MARK), "");
  await rotateOutput(logFile);
  return removedError(dir);
}

/** Throws when the data belongs to a removed member. */
export async function refuseRemoved(dir: string, holdsData: boolean): Promise<void> {
  const mark = join(dir, MARK);
  const marked = await stat(mark).then(
    () => true,
    () => false,
  );
  if (marked && holdsData) throw removedError(dir);
  if (marked) await rm(mark, { force: true });
}

/** Keeps the output of an earlier member apart from the next one's. */
export const rotateOutput = (logFile: string): Promise<void> => rename(logFile, `${logFile}.1`).catch(() => undefined);

export const lastOutput = async (logFile: string): Promise<string> =>
  (await tailOf(logFile, LAST_WORDS_BYTES)).split("\n").slice(-6).join("\n").trim();

const removedError = (dir: string): ManagedError =>
  new ManagedError(
    "removed",
    `this server's member was removed from the cluster; to take it in again, delete ${dir} and start once with --join`,
  );

async function tailOf(path: string, bytes: number): Promise<string> {
  const file = await open(path, "r").catch(() => null);
  if (file === null) return "";
  try {
    const { size } = await file.stat();
    const buffer = Buffer.alloc(Math.min(size, bytes));
    await file.read(buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString("utf8");
  } finally {
    await file.close();
  }
}
