// File operations of an agent whose jobs run as its own user: there is no boundary between them to guard, and no helper
// is needed. An agent that runs jobs of other users never uses this.

import { constants } from "node:fs";
import { access, lstat, mkdir, open, opendir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { FileError, type OwnedFolder, type TreeSize, type UserFiles } from "./user-files.ts";

export const directFiles: UserFiles = {
  makeOwned: ({ base, parts, mode }: OwnedFolder) =>
    asFileError(async () => void (await mkdir(join(base, ...parts), { recursive: true, mode }))),
  make: (path) => asFileError(async () => void (await mkdir(path, { recursive: true }))),
  reach: (path) =>
    asFileError(async () => {
      if (!(await stat(path)).isDirectory()) throw new FileError("ENOTDIR", `${path}: not a directory`);
      await access(path, constants.R_OK | constants.X_OK);
    }),
  read: (path, _user, maxBytes) =>
    asFileError(async () => {
      const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
      try {
        const found = await file.stat();
        if (!found.isFile()) throw new FileError("EINVAL", `${path}: not a file`);
        if (found.size > maxBytes) throw new FileError("EFBIG", `${path}: larger than ${maxBytes} bytes`);
        return await file.readFile();
      } finally {
        await file.close();
      }
    }),
  size: (path, _user, maxEntries) => asFileError(() => treeSize(path, maxEntries)),
  remove: (folder, names) =>
    asFileError(async () => {
      for (const name of names) await rm(join(folder, name), { recursive: true, force: true });
    }),
  clear: (base, name) => asFileError(() => rm(join(base, name), { recursive: true, force: true })),
  close: () => undefined,
};

async function treeSize(folder: string, maxEntries: number): Promise<TreeSize> {
  const waiting = [folder];
  let left = maxEntries;
  let bytes = 0;
  let isWhole = true;
  for (let next = waiting.pop(); next !== undefined && left > 0; next = waiting.pop()) {
    try {
      for await (const entry of await opendir(next)) {
        left -= 1;
        if (entry.isDirectory()) waiting.push(join(next, entry.name));
        else if (entry.isFile())
          bytes += await lstat(join(next, entry.name)).then(
            ({ size }) => size,
            () => 0,
          );
        if (left === 0) break;
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") isWhole = false;
    }
  }
  return { bytes, isWhole };
}

async function asFileError<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof FileError) throw error;
    throw new FileError((error as NodeJS.ErrnoException).code ?? "EIO", (error as Error).message);
  }
}
