// A member that the cluster has let go. etcd says so in its output and ends, every time it is started
// on that data: it is not started again, and its data is not taken for a member's any more.

import { open, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ManagedError } from "./managed-error.ts";

/** Words that etcd has had since 3.0 for it. */
const REMOVED = /the member has been permanently removed|data-dir used by this member must be removed/;
/** Behind those words it only says what it closes. */
const SEARCHED_BYTES = 256 * 1024;
const LAST_WORDS_BYTES = 2_048;
const MARK = "removed";

export const saysRemoved = async (logFile: string): Promise<boolean> =>
  REMOVED.test(await tailOf(logFile, SEARCHED_BYTES));

/** The output is put aside with it: a later life is not to be judged by it. */
export async function markRemoved(dir: string, logFile: string): Promise<ManagedError> {
  await writeFile(join(dir, MARK), "");
  await startAfresh(logFile);
  return removedError(dir);
}

/** Throws when the data here is that of a member which was removed. */
export async function refuseRemoved(dir: string, holdsData: boolean): Promise<void> {
  const mark = join(dir, MARK);
  const marked = await stat(mark).then(
    () => true,
    () => false,
  );
  if (marked && holdsData) throw removedError(dir);
  if (marked) await rm(mark, { force: true });
}

/** What an earlier member said here does not concern the next. */
export const startAfresh = (logFile: string): Promise<void> => rename(logFile, `${logFile}.1`).catch(() => undefined);

export const lastWords = async (logFile: string): Promise<string> =>
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
